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
	labelWidth   = 120
	figuresWidth = 220
	fontSize     = 15
	titleSize    = 20
)

var (
	white    = color.RGBA{255, 255, 255, 255}
	ink      = color.RGBA{34, 34, 34, 255}
	faint    = color.RGBA{110, 110, 110, 255}
	ours     = color.RGBA{0, 114, 178, 255} // told apart also by the colour-blind
	ahead    = color.RGBA{230, 159, 0, 255} // the proxies'
	theirs   = color.RGBA{170, 170, 170, 255}
	baseline = color.RGBA{200, 200, 200, 255}
)

// chart is bars in groups, all on one scale.
type chart struct {
	title, legend string
	groups        []barGroup
}

// barGroup is a few bars that are looked at together.
type barGroup struct {
	title string
	bars  []bar
}

// bar is a bar with a name before it and a figure behind it.
type bar struct {
	label, figure string
	parts         []barPart
}

// barPart is a piece of a bar.
type barPart struct {
	length float64
	colour color.Color
}

func (b *bar) length() (sum float64) {
	for _, p := range b.parts {
		sum += p.length
	}
	return sum
}

// write writes the chart as a PNG.
func (ch *chart) write(w io.Writer) error {
	text, err := newFace(fontSize)
	if err != nil {
		return err
	}
	title, err := newFace(titleSize)
	if err != nil {
		return err
	}
	height, longest := margin+titleHeight, 0.0
	for _, g := range ch.groups {
		height += groupTitle + len(g.bars)*(barHeight+barGap) + groupGap
		for _, b := range g.bars {
			longest = max(longest, b.length())
		}
	}
	c := canvas{image.NewRGBA(image.Rect(0, 0, chartWidth, height))}
	c.fill(c.Bounds(), white)
	c.text(title, margin, margin+titleSize, ink, ch.title)
	c.text(text, margin, margin+titleSize+24, faint, ch.legend)
	y := margin + titleHeight
	for _, g := range ch.groups {
		y = c.group(text, g, y, longest)
	}
	return png.Encode(w, c)
}

// group draws a group from y down, and returns where it ends.
func (c canvas) group(face font.Face, g barGroup, y int, longest float64) int {
	c.text(face, margin, y+fontSize+6, ink, g.title)
	y += groupTitle
	const left = margin + labelWidth
	const room = chartWidth - left - margin - figuresWidth
	for _, b := range g.bars {
		end, sum := left, 0.0
		for _, p := range b.parts {
			sum += p.length
			start := end
			end = max(start, left+1, left+int(room*sum/max(longest, 1e-9)))
			c.fill(image.Rect(start, y, end, y+barHeight), p.colour)
		}
		c.text(face, margin, y+barHeight-7, ink, b.label)
		c.text(face, end+8, y+barHeight-7, ink, b.figure)
		c.fill(image.Rect(left-1, y-barGap/2, left, y+barHeight+barGap/2), baseline)
		y += barHeight + barGap
	}
	return y + groupGap
}

// microseconds spells a CPU time, with its ratio to another one if there is one.
func microseconds(cpu float64, ratio string) string {
	figure := fmt.Sprintf("%.2f µs", cpu)
	if ratio != none {
		figure += "  (" + ratio + ")"
	}
	return figure
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
