package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// The options that SIGHUP applies, which is a promise to operators.
var applied = map[string]string{
	limiterBinary:  "response-headers no-quota gc-max-keys gc-period gc-collect max-keys verbose",
	observerBinary: "verbose",
	proxyBinary:    "response-headers spill gc-max-keys gc-period verbose",
}

func TestWhatCanBeApplied(t *testing.T) {
	for binary, want := range applied {
		var got []string
		fresh(t, binary).flags.VisitAll(func(f *pflag.Flag) {
			switch reloadOf(f) {
			case live:
				got = append(got, f.Name)
			case restart, notInFile, commandLine:
			default:
				t.Errorf("%s: %s does not say what a change needs", binary, f.Name)
			}
		})
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", binary, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	tests := []struct {
		env     []string
		applied []string
		restart []string
	}{
		{nil, nil, nil},
		{[]string{"LEVEE_GC_PERIOD=60m", "LEVEE_LISTEN_ADDR=0.0.0.0:5454", "LEVEE_GRAPHITE_ADDR="}, nil, nil},
		{[]string{"LEVEE_VERBOSE=1"}, []string{"verbose"}, nil},
		{[]string{"LEVEE_STORAGE_ADDRS=http://a:1,http://b:1"}, nil, []string{"storage-addrs"}},
		{[]string{"LEVEE_GOSSIP_ADDR=1.2.3.4:1", "LEVEE_GRAPHITE_ADDR=h:1"}, nil, []string{"gossip-addr", "graphite-addr"}},
		{
			[]string{"LEVEE_INSTANCE_ID=other", "LEVEE_MAX_KEYS=9", "LEVEE_NO_QUOTA=fail", "LEVEE_LISTEN_ADDR=:1"},
			[]string{"no-quota", "max-keys"},
			[]string{"listen-addr", "instance-id"},
		},
	}
	for _, tt := range tests {
		args := []string{"--standalone"}
		env := append([]string{"LEVEE_STORAGE_ADDRS=http://a:1"}, tt.env...)
		older, newer := limiter(t, args, env[:1]), limiter(t, args, env)
		before := *older
		applied, restart := older.Diff(newer)
		if !reflect.DeepEqual(applied, tt.applied) || !reflect.DeepEqual(restart, tt.restart) {
			t.Errorf("%v: applied %v, needs a restart %v; want %v, %v", tt.env, applied, restart, tt.applied, tt.restart)
		}
		if !reflect.DeepEqual(*older, before) {
			t.Errorf("%v: Diff changed the configuration", tt.env)
		}
	}
}

// Every option is seen by Diff, under the name that it has.
func TestDiffSeesEveryOption(t *testing.T) {
	for _, name := range bind("", new(Limiter)).names(false) {
		older, newer := &Limiter{}, &Limiter{}
		if err := bind("", newer).flags.Set(name, samples[name]); err != nil {
			t.Fatal(err)
		}
		applied, restart := older.Diff(newer)
		if got := slices.Concat(applied, restart); !reflect.DeepEqual(got, []string{name}) {
			t.Errorf("%s changed, Diff says %v", name, got)
		}
	}
}

func TestDiffOfOthers(t *testing.T) {
	applied, restart := (&Observer{}).Diff(&Observer{HTTPAddr: ":1", Common: Common{Verbose: true}})
	if !reflect.DeepEqual(applied, []string{"verbose"}) || !reflect.DeepEqual(restart, []string{"http-addr"}) {
		t.Errorf("observer: %v, %v", applied, restart)
	}
	applied, restart = (&ClientProxy{}).Diff(&ClientProxy{OnFailure: FailureAccept, Serving: Serving{GCMaxKeys: 1}})
	if !reflect.DeepEqual(applied, []string{"gc-max-keys"}) || !reflect.DeepEqual(restart, []string{"on-failure"}) {
		t.Errorf("client-proxy: %v, %v", applied, restart)
	}
}
