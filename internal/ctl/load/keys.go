package load

import (
	"math/rand/v2"
	"strconv"
)

// keys draws the resource of each attempt.
type keys struct {
	count  int
	random *rand.Rand
	zipf   *rand.Zipf // nil if all are alike
	name   []byte     // with what all have in common
	common int        // how long that is
}

func newKeys(p *Plan, random *rand.Rand) keys {
	k := keys{count: p.Keys, random: random, name: []byte(p.Resource)}
	if p.Keys > 1 {
		k.name = append(k.name, '-')
	}
	k.common = len(k.name)
	if p.Zipf > 0 {
		k.zipf = rand.NewZipf(random, p.Zipf, 1, uint64(p.Keys-1))
	}
	return k
}

// draw returns a resource, which is valid until the next call.
func (k *keys) draw() []byte {
	switch {
	case k.zipf != nil:
		k.name = strconv.AppendUint(k.name[:k.common], k.zipf.Uint64(), 10)
	case k.count > 1:
		k.name = strconv.AppendInt(k.name[:k.common], k.random.Int64N(int64(k.count)), 10)
	}
	return k.name
}
