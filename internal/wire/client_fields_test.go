package wire

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	xhttp2 "golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/levee-project/levee/internal/attempt"
)

// oddValues are what a field may carry and few do.
var oddValues = []string{
	"x", "a b  c", "\tin\tside\t"[1:8], "ключ/限流", "\x80\xff\xfe\xc3(", "%00%0d%0a", "\x01\x1f\x7f", "a:b;c=\"d\",e",
	strings.Repeat("v", 126), strings.Repeat("v", 127), strings.Repeat("v", 128), strings.Repeat("v", 254), strings.Repeat("v", 255),
	strings.Repeat("\xff", attempt.MaxKeyPart),
}

// Every field arrives as it was asked, whatever is in it, and with every size of
// the limiter's table.
func TestClientFields(t *testing.T) {
	s := serve(t, runningClock)
	c := connect(t, s.addr)
	for _, v := range oddValues {
		for i, a := range []*attempt.Attempt{
			{Resource: []byte(v), Hits: 1},
			{Resource: []byte("r"), Prefix: []byte(v), Hits: 2},
			{Resource: []byte("r"), Method: []byte(v), Hits: attempt.MaxHits},
			{Resource: []byte("r"), ReqID: []byte(v)},
			{Resource: []byte(v), Prefix: []byte(v), Method: []byte(v), ReqID: []byte(v), Hits: 1},
		} {
			if got := c.answer(t, a); got.err != nil || got.Result != attempt.Accepted {
				t.Fatalf("%d: %q: %+v", i, v, got)
			}
			if seen, want := s.decider.take(), describe(a); !slices.Equal(seen, []string{want}) {
				t.Errorf("the limiter saw %q, want %q", seen, want)
			}
		}
	}
	if bad, _ := s.told(); len(bad) > 0 || s.connections() != 1 {
		t.Errorf("the limiter complains of %v; %d connections", bad, s.connections())
	}
}

// A prefix that begins or ends with a blank, which no value may, came with a slash
// there, and goes on with one.
func TestClientBlankPrefix(t *testing.T) {
	s := serve(t, runningClock)
	c := connect(t, s.addr)
	for _, v := range []string{" ", "\t", " x", "x ", " x/y\t", " " + strings.Repeat("x", attempt.MaxKeyPart-4) + " "} {
		a := &attempt.Attempt{Resource: []byte("r"), Prefix: []byte(v), Hits: 1}
		if got := c.answer(t, a); got.err != nil || got.Result != attempt.Accepted {
			t.Fatalf("%q: %+v", v, got)
		}
		if seen, want := s.decider.take(), describe(a); !slices.Equal(seen, []string{want}) {
			t.Errorf("the limiter saw %q, want %q", seen, want)
		}
	}
}

// A trace id that is too long is cut: it never keeps an attempt from being made.
func TestClientLongReqID(t *testing.T) {
	s := serve(t, runningClock)
	c := connect(t, s.addr)
	long := bytes.Repeat([]byte("k"), attempt.MaxKeyPart)
	a := &attempt.Attempt{Resource: long, Prefix: long, Method: long, ReqID: bytes.Repeat([]byte("i"), MaxHeader), Hits: attempt.MaxHits}
	if got := c.answer(t, a); got.Result != attempt.Accepted {
		t.Errorf("%+v", got)
	}
	a.ReqID = a.ReqID[:maxReqID]
	if seen := s.decider.take(); !slices.Equal(seen, []string{describe(a)}) {
		t.Errorf("the limiter saw %q", seen)
	}
}

// What no field can carry is not asked, and the connection does not notice.
func TestClientUnspellable(t *testing.T) {
	s := serve(t, runningClock)
	c := connect(t, s.addr)
	if c.Ask(0, &attempt.Attempt{Hits: 1}, nil) {
		t.Error("an attempt without a resource is taken")
	}
	for _, v := range []string{" x", "x ", "\tx", "x\t", " ", "a\x00b", "a\rb", "a\nb", "\x00", "12345678\x00", strings.Repeat("x", attempt.MaxKeyPart+1)} {
		b := []byte(v)
		for i, a := range []*attempt.Attempt{{Resource: b}, {Resource: []byte("r"), Prefix: b}, {Resource: []byte("r"), Method: b}, {Resource: []byte("r"), ReqID: b}} {
			if i == 1 && strings.TrimSpace(v) != v {
				continue // a prefix may
			}
			if taken := c.Ask(0, a, newCall()); taken != (i == 3 && len(v) > 20) {
				t.Errorf("%d: %q: taken: %v", i, v, taken)
			}
		}
	}
	if got := c.answer(t, about("r")); got.Result != attempt.Accepted {
		t.Errorf("%+v", got)
	}
	if bad, _ := s.told(); len(bad) > 0 || s.connections() != 1 {
		t.Errorf("the limiter complains of %v; %d connections", bad, s.connections())
	}
}

// spelt is what another implementation reads in a header block.
func spelt(t *testing.T, d *hpack.Decoder, block []byte) string {
	t.Helper()
	fields, err := d.DecodeFull(block)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, "%s=%s ", f.Name, f.Value)
	}
	return b.String()
}

// Attempts are spelt the same to all limiters, with octets as few as their table
// permits, and whatever becomes of it.
func TestClientSpelling(t *testing.T) {
	c := NewClient(ClientOptions{Addr: "levee:5454"})
	a := &attempt.Attempt{Resource: []byte("r"), Prefix: []byte("p"), Method: []byte("m"), ReqID: []byte("i"), Hits: 12}
	const want = ":method=POST :scheme=http :path=/attempt :authority=levee:5454 x-resource=r x-prefix=p x-method=m x-hits=12 x-req-id=i "
	need := c.brief.size
	for _, sizes := range [][]uint32{{4096}, {0}, {need}, {need - 1}, {4096, need}, {4096, need - 1}, {4096, 0, 4096}, {0, 4096}, {1000, 500, 1000}, {30, 20, 0}} {
		d := hpack.NewDecoder(4096, nil)
		var s *spelling
		for i, size := range sizes {
			k := &clientConn{client: c}
			var b []byte
			s, b = k.spell(nil, 1, size, s)
			d.SetAllowedMaxDynamicTableSize(size)
			f := parseFrame(b)
			if taught := spelt(t, d, b[frameHeader:frameHeader+f.length]); !strings.HasPrefix(taught, want[:60]) {
				t.Errorf("%v: the first request is %s", sizes[:i+1], taught)
			}
			if f.has(flagEndStream) || f.stream != 1 || !bytes.Equal(b[frameHeader+f.length:], appendReset(nil, 1, codeCancel)) {
				t.Errorf("%v: the first request is not cancelled: %x", sizes[:i+1], b)
			}
			b = s.append(nil, 3, a)
			if got := parseFrame(b); got.length != len(b)-frameHeader || got.stream != 3 || got.flags != flagEndHeaders|flagEndStream {
				t.Errorf("%v: a frame of %d bytes: %+v", sizes[:i+1], len(b), got)
			}
			if got := spelt(t, d, b[frameHeader:]); got != want {
				t.Errorf("%v: %s, want %s", sizes[:i+1], got, want)
			}
			brief := len(b) < 50
			if all := slices.Min(sizes[:i+1]) >= need; brief != all {
				t.Errorf("%v: %d bytes", sizes[:i+1], len(b))
			}
		}
	}
}

// A limiter may shrink its table while attempts are under way.
func TestClientTableShrinks(t *testing.T) {
	p := newPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.greet(t)
	for i, size := range []uint32{4096, 300, 0} {
		if i > 0 {
			must(k.WriteSettings(xhttp2.Setting{ID: xhttp2.SettingHeaderTableSize, Val: size}))
			k.until("the acknowledgement", func(f xhttp2.Frame) bool {
				ack, ok := f.(*xhttp2.SettingsFrame)
				return ok && ack.IsAck()
			})
			k.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(size)
		}
		c.awaitUp(t)
		call := c.ask(t, about("r"))
		k.accepted(k.request())
		if got := call.wait(t); got.Result != attempt.Accepted {
			t.Errorf("%d: %+v", size, got)
		}
	}
}

// The fields about the quota arrive.
func TestClientRateLimit(t *testing.T) {
	for _, o := range []attempt.Outcome{
		{Result: attempt.Accepted, Level: attempt.Resource, Policy: attempt.Policy{Limit: 11, Window: time.Second, Remaining: 10, Reset: time.Second}},
		{Result: attempt.Accepted, Level: attempt.Method, Policy: attempt.Policy{Limit: 1e9, Window: 366 * 24 * time.Hour}},
		{Result: attempt.Rejected, Over: true, RetryAfter: 7 * time.Second, Level: attempt.Full, Policy: attempt.Policy{Limit: 1, Window: 8 * time.Second, Reset: 8 * time.Second}},
		{Result: attempt.Rejected, Over: true, Level: attempt.Full},
		{Result: attempt.Accepted},
	} {
		s := serve(t, runningClock, func(so *Options) {
			so.Decider = always{o}
			so.Headers = func() Headers { return HeadersRateLimit }
		})
		c := connect(t, s.addr)
		for range 3 {
			if got, want := c.answer(t, about("r")), (answered{o, nil}); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	}
}

// Fields of answers in other spellings say as much as can be understood.
func TestClientAnswerFields(t *testing.T) {
	const second = time.Second
	p := newPeer(t)
	c := newTestClient(p.addr).run(t)
	k := p.greet(t)
	c.awaitUp(t)
	rejected := attempt.Outcome{Result: attempt.Rejected, Over: true}
	policy := func(o attempt.Outcome, l attempt.Level, p attempt.Policy) attempt.Outcome {
		o.Level, o.Policy = l, p
		return o
	}
	retry := rejected
	retry.RetryAfter = 1<<63 - 1
	retry.RetryAfter = retry.RetryAfter.Truncate(second)
	for _, test := range []struct {
		fields []string
		want   attempt.Outcome
	}{
		{[]string{"retry-after", "x"}, rejected},
		{[]string{"retry-after", ""}, rejected},
		{[]string{"retry-after", "-1"}, rejected},
		{[]string{"retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"}, rejected},
		{[]string{"retry-after", "999999999999999999"}, retry},
		{[]string{"retry-after", "99999999999999999999"}, rejected},
		{[]string{"ratelimit-policy", `"full";q=1;w=2`}, rejected},
		{[]string{"ratelimit", `"full";r=1;t=2`}, rejected},
		{[]string{"ratelimit", `"full";r=1;t=2`, "ratelimit-policy", `"full";q=3;w=4`}, policy(rejected, attempt.Full, attempt.Policy{Limit: 3, Window: 4 * second, Remaining: 1, Reset: 2 * second})},
		{[]string{"ratelimit-policy", `"full";q=3;w=4`, "ratelimit", `"method";r=1;t=2`}, rejected},
		{[]string{"ratelimit-policy", `"other";q=3;w=4`, "ratelimit", `"other";r=1;t=2`}, rejected},
		{[]string{"ratelimit-policy", `"none";q=3;w=4`, "ratelimit", `"none";r=1;t=2`}, rejected},
		{[]string{"ratelimit-policy", `full;q=3;w=4`, "ratelimit", `full;r=1;t=2`}, rejected},
		{[]string{"ratelimit-policy", `"full";w=3;q=4`, "ratelimit", `"full";r=1;t=2`}, rejected},
		{[]string{"ratelimit-policy", `"full";q=;w=4`, "ratelimit", `"full";r=1;t=2`}, rejected},
		{[]string{"ratelimit-policy", `"`, "ratelimit", `""`}, rejected},
		{[]string{"x-other", "1", "content-length", "0", "date", "now"}, rejected},
	} {
		call := c.ask(t, about("r"))
		k.respond(k.request(), true, append([]string{":status", "429"}, test.fields...)...)
		if got := call.wait(t); !reflect.DeepEqual(got, answered{test.want, nil}) {
			t.Errorf("%q: %+v, want %+v", test.fields, got, test.want)
		}
	}
}
