package load

import "time"

// Tally is what came of a run.
type Tally struct {
	// Accepted, Rejected and Failed count the answers: 200, 429, all others.
	Accepted, Rejected, Failed int64
	// Lost are attempts without an answer, and Why the reason of the first of them.
	Lost int64
	Why  error
	// Took is how long attempts were due.
	Took time.Duration
	// Later is the second half of that time, in which the burst that an idle bucket
	// passes at once is mostly used up.
	Later Part
	// Times are from when attempts were due to their answers.
	Times Histogram
	// CPU is what the run has cost this process.
	CPU time.Duration
}

// Part is a part of a run.
type Part struct {
	Took time.Duration
	// Answers is how many came, and Accepted how many of them were 200.
	Answers, Accepted int64
}

// AcceptedPerSecond is their rate, 0 if the part is empty.
func (p Part) AcceptedPerSecond() float64 {
	if p.Took <= 0 {
		return 0
	}
	return float64(p.Accepted) / p.Took.Seconds()
}

// Answers is how many attempts were answered.
func (t *Tally) Answers() int64 { return t.Accepted + t.Rejected + t.Failed }

// answer counts an answer. later says that it came in the second half.
func (t *Tally) answer(status uint16, took time.Duration, later bool) {
	switch status {
	case 0:
		t.lose(1, errReset)
		return
	case 200:
		if t.Accepted++; later {
			t.Later.Accepted++
		}
	case 429:
		t.Rejected++
	default:
		t.Failed++
	}
	if later {
		t.Later.Answers++
	}
	t.Times.add(took)
}

func (t *Tally) lose(n int, why error) {
	if t.Lost += int64(n); t.Why == nil && n > 0 {
		t.Why = why
	}
}

// end is when no more attempts were due. Where that was before the planned half, all
// counts as the second half.
func (t *Tally) end(at, half time.Duration) {
	t.Took = at
	if t.Later.Took = at - half; at <= half {
		t.Later = Part{Took: at, Answers: t.Answers(), Accepted: t.Accepted}
	}
}
