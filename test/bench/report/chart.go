package report

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Sizes of the chart, in pixels.
const (
	chartWidth   = 1000
	margin       = 24
	titleHeight  = 64
	groupTitle   = 34
	barHeight    = 24
	barGap       = 6
	groupGap     = 14
	labelWidth   = 110
	figuresWidth = 220
	fontSize     = 15
	titleSize    = 20
)

var (
	white    = color.RGBA{255, 255, 255, 255}
	ink      = color.RGBA{34, 34, 34, 255}
	faint    = color.RGBA{110, 110, 110, 255}
	ours     = color.RGBA{0, 114, 178, 255} // told apart also by the colour-blind
	theirs   = color.RGBA{170, 170, 170, 255}
	baseline = color.RGBA{200, 200, 200, 255}
)

// Chart writes a PNG: for each scenario the CPU time that each server used for a
// request, all on one scale.
func (p *Page) Chart(w io.Writer) error {
	text, err := newFace(fontSize)
	if err != nil {
		return err
	}
	title, err := newFace(titleSize)
	if err != nil {
		return err
	}
	height, longest := margin+titleHeight, 0.0
	for _, s := range p.Scenarios {
		height += groupTitle + len(s.Servers)*(barHeight+barGap) + groupGap
		for _, server := range s.Servers {
			longest = max(longest, s.CPU(server).Median)
		}
	}
	c := canvas{image.NewRGBA(image.Rect(0, 0, chartWidth, height))}
	c.fill(c.Bounds(), white)
	c.text(title, margin, margin+titleSize, ink, "CPU time of the server for a request, in microseconds; less is better")
	c.text(text, margin, margin+titleSize+24, faint, "medians of interleaved rounds; in brackets how many times Levee's")
	y := margin + titleHeight
	for _, s := range p.Scenarios {
		y = p.group(c, text, s, y, longest)
	}
	return png.Encode(w, c)
}

// group draws a scenario from y down, and returns where it ends.
func (p *Page) group(c canvas, face font.Face, s *Scenario, y int, longest float64) int {
	c.text(face, margin, y+fontSize+6, ink, s.Title)
	y += groupTitle
	left := margin + labelWidth
	room := float64(chartWidth - left - margin - figuresWidth)
	for _, server := range s.Servers {
		cpu := s.CPU(server).Median
		colour, figure := theirs, fmt.Sprintf("%.2f µs", cpu)
		if ratio, _ := p.ratio(s, server); ratio != "–" {
			figure += "  (" + ratio + ")"
		}
		if server == p.Base {
			colour = ours
		}
		end := left + max(1, int(room*cpu/max(longest, 1e-9)))
		c.fill(image.Rect(left, y, end, y+barHeight), colour)
		c.text(face, margin, y+barHeight-7, ink, server)
		c.text(face, end+8, y+barHeight-7, ink, figure)
		c.fill(image.Rect(left-1, y-barGap/2, left, y+barHeight+barGap/2), baseline)
		y += barHeight + barGap
	}
	return y + groupGap
}

// canvas is an image to draw on.
type canvas struct{ *image.RGBA }

func (c canvas) fill(r image.Rectangle, colour color.Color) {
	draw.Draw(c, r, image.NewUniform(colour), image.Point{}, draw.Src)
}

// text writes a line; y is its baseline.
func (c canvas) text(face font.Face, x, y int, colour color.Color, line string) {
	d := font.Drawer{Dst: c, Src: image.NewUniform(colour), Face: face, Dot: fixed.P(x, y)}
	d.DrawString(line)
}

func newFace(size float64) (font.Face, error) {
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("the chart's font: %w", err)
	}
	return opentype.NewFace(parsed, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingFull})
}
