package config

import (
	"errors"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// loaders are the Load functions, without the configuration.
var loaders = map[string]func(args, env []string) error{
	limiterBinary: func(args, env []string) error {
		_, _, err := LoadLimiter(args, env, io.Discard)
		return err
	},
	observerBinary: func(args, env []string) error {
		_, _, err := LoadObserver(args, env, io.Discard)
		return err
	},
	proxyBinary: func(args, env []string) error {
		_, _, err := LoadClientProxy(args, env, io.Discard)
		return err
	},
}

// checkMessage fails unless err is one of the configuration with the text want.
func checkMessage(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want\n%s", want)
		return
	}
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("%v does not match ErrInvalid", err)
	}
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
}

func TestWrongFiles(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"unknown key", "gc-perod: 1h", `FILE:1: gc-perod: unknown key; did you mean gc-period?`},
		{"unknown key like none", "\nfrobnicate: 1h", `FILE:2: frobnicate: unknown key`},
		{"underscore", "listen_addr: x", `FILE:1: listen_addr: unknown key; did you mean listen-addr?`},
		{"upper case", "Verbose: true", `FILE:1: Verbose: unknown key; did you mean verbose?`},
		{"odd key", `"a b\n": 1`, `FILE:1: "a b\n": unknown key`},
		{"key that is no text", "? [1]\n: 2", `FILE:1: found a list, expected the name of an option`},
		{"number as a key", "5454: x", `FILE:1: 5454: unknown key`},
		{"merge key", "<<: {verbose: true}", `FILE:1: "<<": unknown key`},
		{"another daemon's key", "observer-name: x", `FILE:1: observer-name: is an option of levee-observer, not of levee-limiter`},
		{"two other daemons", "on-failure: x", `FILE:1: on-failure: is an option of levee-client-proxy, not of levee-limiter`},
		{"config in a file", "config: x", `FILE:1: config: cannot be set in a file, only on the command line`},
		{"help in a file", "help: true", `FILE:1: help: cannot be set in a file, only on the command line`},
		{"duplicate key", "verbose: true\n\nverbose: true", `FILE:3: verbose: set a second time, first on line 1`},
		{"quoted switch", `verbose: "true"`, `FILE:1: verbose: found the text "true", expected true or false; remove the quotes`},
		{"yes", "verbose: yes", `FILE:1: verbose: found the text "yes", expected true or false`},
		{"number for a switch", "verbose: 1", `FILE:1: verbose: found the number 1, expected true or false`},
		{"switch for a number", "max-keys: true", `FILE:1: max-keys: found the switch true, expected a whole number of at least 0`},
		{"quoted number", "max-keys: '5'", `FILE:1: max-keys: found the text "5", expected a whole number of at least 0; remove the quotes`},
		{"fraction", "max-keys: 1.5", `FILE:1: max-keys: found the number 1.5, expected a whole number of at least 0`},
		{"exponent", "max-keys: 1e6", `FILE:1: max-keys: found the number 1e6, expected a whole number of at least 0`},
		{"negative", "max-keys: -1", `FILE:1: max-keys: found the number -1, expected a whole number of at least 0`},
		{"octal", "max-keys: 0x10", `FILE:1: max-keys: found the number 0x10, expected a whole number of at least 0`},
		{"too large", "max-keys: 99999999999999999999", `FILE:1: max-keys: found the number 99999999999999999999, expected a whole number of at least 0`},
		{"duration without a unit", "gc-period: 15", `FILE:1: gc-period: found the number 15, expected a duration such as 15s, 10m or 1h, at least 1s`},
		{"quoted duration without a unit", "gc-period: '15'", `FILE:1: gc-period: found the text "15", expected a duration such as 15s, 10m or 1h, at least 1s`},
		{"days", "gc-period: 1d", `FILE:1: gc-period: found the text "1d", expected a duration such as 15s, 10m or 1h, at least 1s`},
		{"negative duration", "gc-period: -1s", `FILE:1: gc-period: found the text "-1s", expected a duration such as 15s, 10m or 1h, at least 1s`},
		{"duration too short", "drain-timeout: 999ms", `FILE:1: drain-timeout: found the text "999ms", expected a duration such as 15s, 10m or 1h, at least 1s`},
		{"0 where it is too short", "drain-timeout: 0", `FILE:1: drain-timeout: found the number 0, expected a duration such as 15s, 10m or 1h, at least 1s`},
		{"word", "no-quota: refuse", `FILE:1: no-quota: found the text "refuse", expected one of accept, reject, fail`},
		{"number for text", "instance-id: 5", `FILE:1: instance-id: found the number 5, expected a name of at most 128 bytes without spaces and slashes; put it in quotes`},
		{"date for text", "instance-id: 2001-02-03", `FILE:1: instance-id: found "2001-02-03", expected a name of at most 128 bytes without spaces and slashes; put it in quotes`},
		{"nothing for text", "state-file:", `FILE:1: state-file: found nothing, expected the path of a file; write "" for none`},
		{"nothing for a list", "storage-addrs:", `FILE:1: storage-addrs: found nothing, expected a list`},
		{"nothing for a number", "max-keys: ~", `FILE:1: max-keys: found nothing, expected a whole number of at least 0`},
		{"list for text", "state-file: [a]", `FILE:1: state-file: found a list, expected the path of a file`},
		{"mapping for text", "state-file: {a: b}", `FILE:1: state-file: found a mapping, expected the path of a file`},
		{"mapping for a list", "storage-addrs: {a: b}", `FILE:1: storage-addrs: found a mapping, expected a list`},
		{"number in a list", "storage-addrs: [1]", `FILE:1: storage-addrs: item 1: found the number 1, expected ` + expectEndpoint},
		{"list in a list", "storage-addrs: ['http://a:1', []]", `FILE:1: storage-addrs: item 2: found a list, expected ` + expectEndpoint},
		{"list that holds itself", "storage-addrs: &a [*a]", `FILE:1: storage-addrs: item 1: found a list, expected ` + expectEndpoint},
		{"bad item", "storage-addrs: ['http://a:1', localhost]", `FILE:1: storage-addrs: found "localhost", expected ` + expectEndpoint},
		{"own tag", "verbose: !x true", `FILE:1: verbose: found "true", expected true or false`},
		{"two lines of text", `state-file: "a\nb"`, `FILE:1: state-file: found the text "a\nb", expected the path of a file`},
		{"list at the root", "- a", `FILE:1: found a list, expected lines of the form "option: value"`},
		{"text at the root", "\nverbose", `FILE:2: found the text "verbose", expected lines of the form "option: value"`},
		{"two documents", "verbose: true\n---\nverbose: true", `FILE:2: a second YAML document begins here, expected one`},
		{"an empty second document", "verbose: true\n---", `FILE:2: a second YAML document begins here, expected one`},
		{"no YAML", "verbose: true\nmax-keys: [", `FILE:2: not YAML: did not find expected node content`},
		{"no YAML in the second document", "verbose: true\n---\n[", `FILE:3: not YAML: did not find expected node content`},
		{"tab", "verbose:\n\ttrue", `FILE:2: not YAML: found character that cannot start any token`},
		{"unknown alias", "verbose: *a", `FILE: not YAML: unknown anchor 'a' referenced`},
		{
			"all mistakes at once", "verbose: 1\ngc-perod: 1h\nmax-keys: x",
			"FILE:1: verbose: found the number 1, expected true or false\n" +
				"FILE:2: gc-perod: unknown key; did you mean gc-period?\n" +
				"FILE:3: max-keys: found the text \"x\", expected a whole number of at least 0",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, tt.file)
			err := loaders[limiterBinary](append(standalone, "--config", path), nil)
			checkMessage(t, err, strings.ReplaceAll(tt.want, "FILE", path))
		})
	}
}

const expectEndpoint = "http://HOST:PORT, https://HOST:PORT or file:///PATH, without user, password and query"

func TestFileThatCannotBeRead(t *testing.T) {
	missing, dir, large := t.TempDir()+"/none.yaml", t.TempDir(), write(t, "#"+strings.Repeat(" ", maxFile))
	tests := []struct{ path, want string }{
		{missing, missing + ": cannot read the configuration file: no such file or directory"},
		{dir, dir + ": cannot read the configuration file: is a directory"},
		{large, large + ": cannot read the configuration file: it is larger than 1048576 bytes"},
	}
	for _, tt := range tests {
		checkMessage(t, loaders[limiterBinary](append(standalone, "--config", tt.path), nil), tt.want)
	}
}

// A file that is not a configuration at all costs little to refuse, and the
// report stays readable.
func TestManyMistakes(t *testing.T) {
	for _, line := range []string{"gc-perod: 1\n", "verbose: true\n"} {
		s := fresh(t, limiterBinary)
		s.applyYAML("f", []byte(strings.Repeat(line, 10_000)))
		if len(s.errs) != maxMistakes+1 {
			t.Fatalf("%q: %d mistakes reported, want %d", line, len(s.errs), maxMistakes+1)
		}
		if last := s.errs[maxMistakes].Error(); !strings.HasSuffix(last, ": more than 100 mistakes, this one and the rest are not shown") {
			t.Errorf("%q: the last is %s", line, last)
		}
	}
	// Exactly as many as fit are shown as they are.
	s := fresh(t, limiterBinary)
	s.applyYAML("f", []byte(strings.Repeat("x: 1\n", maxMistakes)))
	if last := s.errs[len(s.errs)-1].Error(); len(s.errs) != maxMistakes || last != "f:100: x: unknown key" {
		t.Errorf("%d mistakes, the last %s", len(s.errs), last)
	}
}

func TestFilesWithoutOptions(t *testing.T) {
	for _, file := range []string{"", "\n", "# verbose: true\n", "---\n", "null", "{}", "\ufeff", "---\n# no more\n...\n"} {
		if err := loaders[limiterBinary](append(standalone, "--config", write(t, file)), nil); err != nil {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestWrongEnvironment(t *testing.T) {
	tests := []struct {
		env  []string
		want string
	}{
		{[]string{"LEVEE_GC_PEROD=1h"}, `LEVEE_GC_PEROD: unknown variable; did you mean LEVEE_GC_PERIOD?`},
		{[]string{"LEVEE_FROBNICATE=1"}, `LEVEE_FROBNICATE: unknown variable`},
		{[]string{"LEVEE_=1"}, `LEVEE_: unknown variable`},
		{[]string{"LEVEE_listen_addr=1"}, `LEVEE_listen_addr: unknown variable; did you mean LEVEE_LISTEN_ADDR?`},
		{[]string{"LEVEE_LISTEN-ADDR=1"}, `LEVEE_LISTEN-ADDR: unknown variable; did you mean LEVEE_LISTEN_ADDR?`},
		{[]string{"LEVEE_A B=1"}, `"LEVEE_A B": unknown variable`},
		{[]string{"LEVEE_HELP=1"}, `LEVEE_HELP: cannot be set in the environment, only on the command line`},
		{[]string{"LEVEE_VERBOSE="}, `LEVEE_VERBOSE: found "", expected true or false`},
		{[]string{"LEVEE_VERBOSE=yes"}, `LEVEE_VERBOSE: found "yes", expected true or false`},
		{[]string{"LEVEE_MAX_KEYS="}, `LEVEE_MAX_KEYS: found "", expected a whole number of at least 0`},
		{[]string{"LEVEE_MAX_KEYS=1k"}, `LEVEE_MAX_KEYS: found "1k", expected a whole number of at least 0`},
		{[]string{"LEVEE_GC_PERIOD="}, `LEVEE_GC_PERIOD: found "", expected a duration such as 15s, 10m or 1h, at least 1s`},
		{[]string{"LEVEE_GC_PERIOD=15"}, `LEVEE_GC_PERIOD: found "15", expected a duration such as 15s, 10m or 1h, at least 1s`},
		{[]string{"LEVEE_LISTEN_ADDR="}, `LEVEE_LISTEN_ADDR: found "", expected ` + expectAddress},
		{[]string{"LEVEE_NO_QUOTA"}, `LEVEE_NO_QUOTA: found "", expected one of accept, reject, fail`},
		{
			[]string{"LEVEE_STORAGE_ADDRS=http://root:secret@e:2379"},
			`LEVEE_STORAGE_ADDRS: found "http://***@e:2379", expected ` + expectEndpoint,
		},
		{
			[]string{"LEVEE_LOG_FORMAT=" + strings.Repeat("ü", 70)},
			`LEVEE_LOG_FORMAT: found "` + strings.Repeat("ü", 64) + `…", expected one of auto, text, json, journal`,
		},
		{
			[]string{"LEVEE_VERBOSE=2", "LEVEE_X=1", "LEVEE_MAX_KEYS=x"},
			"LEVEE_X: unknown variable\n" +
				"LEVEE_VERBOSE: found \"2\", expected true or false\n" +
				"LEVEE_MAX_KEYS: found \"x\", expected a whole number of at least 0",
		},
	}
	for _, tt := range tests {
		checkMessage(t, loaders[limiterBinary](standalone, tt.env), tt.want)
	}
}

func TestEnvironmentOfOthers(t *testing.T) {
	env := []string{
		"PATH=/bin", "LEVEE=1", "MYLEVEE_X=1", "levee_x=1", "=C:=x", "",
		"LEVEE_OBSERVER_NAME=", "LEVEE_ON_FAILURE=nonsense", "LEVEE_ATTEMPT_TIMEOUT=-1",
	}
	limiter(t, standalone, env)
}

func TestWrongCommandLines(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--gc-perod=1h"}, `--gc-perod: unknown option; did you mean --gc-period?`},
		{[]string{"--gc-perod", "1h"}, `--gc-perod: unknown option; did you mean --gc-period?`},
		{[]string{"--chek-config"}, `--chek-config: unknown option; did you mean --check-config?`},
		{[]string{"--storage-password=secret"}, `--storage-password: unknown option; did you mean --storage-password-file?`},
		{[]string{"-listen-addr", "x"}, `-listen-addr: unknown option; did you mean --listen-addr?`},
		{[]string{"-v"}, `-v: unknown option`},
		{[]string{"---verbose"}, `---verbose: unknown option; did you mean --verbose?`},
		{[]string{"--=x"}, `--: unknown option`},
		{[]string{"--a b"}, `"--a b": unknown option`},
		{[]string{"--observer-name=x"}, `--observer-name: is an option of levee-observer, not of levee-limiter`},
		{[]string{"extra"}, `"extra": unexpected argument; write --option VALUE, or --switch=false`},
		{[]string{"--"}, `"--": unexpected argument; write --option VALUE, or --switch=false`},
		{[]string{"-"}, `"-": unexpected argument; write --option VALUE, or --switch=false`},
		{[]string{""}, `"": unexpected argument; write --option VALUE, or --switch=false`},
		{[]string{"--verbose", "false"}, `"false": unexpected argument; write --option VALUE, or --switch=false`},
		{[]string{"--verbose="}, `--verbose: found "", expected true or false`},
		{[]string{"--gc-period"}, `--gc-period: found no value, expected --gc-period DURATION`},
		{[]string{"--gc-period", "--verbose"}, `--gc-period: found no value, expected --gc-period DURATION`},
		{[]string{"--gc-period", "-1s"}, `--gc-period: found "-1s", expected a duration such as 15s, 10m or 1h, at least 1s`},
		{[]string{"--check-config=x"}, `--check-config: found "x", expected true or false`},
		{
			[]string{"a", "--max-keys", "--x", "y", "--no-quota="},
			"\"a\": unexpected argument; write --option VALUE, or --switch=false\n" +
				"--max-keys: found no value, expected --max-keys NUMBER\n" +
				"--x: unknown option\n" +
				"--no-quota: found \"\", expected one of accept, reject, fail",
		},
	}
	for _, tt := range tests {
		checkMessage(t, loaders[limiterBinary](append(standalone, tt.args...), nil), tt.want)
	}
}

// A mistake in one source does not hide those of another, and a value that a
// later source would override is judged all the same.
func TestMistakesOfAllSources(t *testing.T) {
	path := write(t, "max-keys: x")
	err := loaders[limiterBinary]([]string{"--config", path, "--max-keys=5", "--verbose=x"}, []string{"LEVEE_MAX_KEYS=y"})
	checkMessage(t, err, path+`:1: max-keys: found the text "x", expected a whole number of at least 0`+"\n"+
		`LEVEE_MAX_KEYS: found "y", expected a whole number of at least 0`+"\n"+
		`--verbose: found "x", expected true or false`)
}

func TestImpossibleCombinations(t *testing.T) {
	const alone = "a file store serves standalone limiters only; "
	const noStore = "storage-addrs: no store is named; write the endpoints of etcd, such as http://127.0.0.1:2379, " +
		"or for a standalone limiter a file, such as file:///etc/levee/storage.yaml"
	const noGossip = "gossip-addr: a limiter in a cluster needs the address at which the other members reach it, " +
		"such as 10.0.0.1:7373; or set standalone"
	tests := []struct{ binary, args, want string }{
		{limiterBinary, "", noStore + "\n" + noGossip},
		{observerBinary, "", noStore},
		{proxyBinary, "--storage-addrs=", strings.Replace(noStore, "storage-addrs", "--storage-addrs", 1)},
		{limiterBinary, "--storage-addrs=http://a:1", noGossip},
		{
			limiterBinary, "--storage-addrs=http://a:1 --gossip-addr=0.0.0.0:7373",
			"--gossip-addr: found 0.0.0.0:7373, expected the address of this host at which the other members reach it",
		},
		{
			limiterBinary, "--storage-addrs=http://a:1 --gossip-addr=[::]:7373",
			"--gossip-addr: found [::]:7373, expected the address of this host at which the other members reach it",
		},
		{
			limiterBinary, "--storage-addrs=file:///f --gossip-addr=1.2.3.4:7373",
			"--storage-addrs: " + alone + "set standalone, or name the endpoints of etcd",
		},
		{observerBinary, "--storage-addrs=file:///f", "--storage-addrs: " + alone + "name the endpoints of etcd"},
		{proxyBinary, "--storage-addrs=file:///f", "--storage-addrs: " + alone + "name the endpoints of etcd"},
		{limiterBinary, "--standalone --storage-addrs=file:///f,file:///g", "--storage-addrs: found 2 files, expected one"},
		{limiterBinary, "--standalone --storage-addrs=file:///f,http://a:1", "--storage-addrs: file:// and http:// cannot be mixed"},
		{limiterBinary, "--standalone --storage-addrs=http://a:1,https://a:1", "--storage-addrs: http:// and https:// cannot be mixed"},
		{proxyBinary, "--storage-addrs=http://a:1 --storage-username=u", "--storage-username: impossible without storage-password-file"},
		{proxyBinary, "--storage-addrs=http://a:1 --storage-password-file=f", "--storage-password-file: impossible without storage-username"},
		{proxyBinary, "--storage-addrs=https://a:1 --storage-cert-file=f", "--storage-cert-file: impossible without storage-key-file"},
		{proxyBinary, "--storage-addrs=https://a:1 --storage-key-file=f", "--storage-key-file: impossible without storage-cert-file"},
		{proxyBinary, "--storage-addrs=http://a:1 --storage-ca-file=f", "--storage-ca-file: is for https, but storage-addrs are http://"},
		{
			proxyBinary, "--storage-addrs=http://a:1 --storage-cert-file=f --storage-key-file=f",
			"--storage-cert-file: is for https, but storage-addrs are http://",
		},
		{
			limiterBinary, "--standalone --storage-addrs=file:///f --storage-username=u --storage-password-file=p --storage-ca-file=c",
			"--storage-ca-file: is for https, but storage-addrs are file://\n--storage-username: is for etcd, but storage-addrs is a file",
		},
		{
			limiterBinary, "--standalone --storage-addrs=file:///f --gc-max-keys=9 --max-keys=9",
			"--max-keys: found 9, expected more than gc-max-keys (9), or the collector would never run",
		},
		{
			limiterBinary, "--standalone --storage-addrs=file:///f --gc-max-keys=9 --max-keys=8",
			"--max-keys: found 8, expected more than gc-max-keys (9), or the collector would never run",
		},
	}
	for _, tt := range tests {
		t.Run(tt.binary+" "+tt.args, func(t *testing.T) {
			checkMessage(t, loaders[tt.binary](strings.Fields(tt.args), nil), tt.want)
		})
	}
}

func TestPossibleCombinations(t *testing.T) {
	tests := []struct{ binary, args string }{
		{limiterBinary, "--storage-addrs=http://a:1 --gossip-addr=1.2.3.4:7373"},
		// The manual's own file carries gossip-addr and standalone.
		{limiterBinary, "--storage-addrs=http://a:1 --standalone --gossip-addr=1.2.3.4:7373 --gossip-key-file=k"},
		{limiterBinary, "--storage-addrs=http://a:1 --standalone --gossip-addr=0.0.0.0:7373"},
		{limiterBinary, "--storage-addrs=file:///f --standalone --storage-cache=c"},
		{limiterBinary, "--storage-addrs=file:///f --standalone --gc-max-keys=9 --max-keys=10 --gc-period=1s --gc-collect=0"},
		{limiterBinary, "--storage-addrs=file:///f --standalone --max-keys=10"},
		{observerBinary, "--storage-addrs=https://a:1,https://[::1]:2/ --storage-ca-file=f --storage-cert-file=c --storage-key-file=k"},
		{proxyBinary, "--storage-addrs=http://a:1 --storage-username=u --storage-password-file=p"},
	}
	for _, tt := range tests {
		if err := loaders[tt.binary](strings.Fields(tt.args), nil); err != nil {
			t.Errorf("%s %s: %v", tt.binary, tt.args, err)
		}
	}
}

// A combination is named at the place that set it.
func TestCombinationNamesItsPlace(t *testing.T) {
	path := write(t, "gc-max-keys: 10\nmax-keys: 5")
	checkMessage(t, loaders[limiterBinary](append(standalone, "--config", path), nil),
		path+":2: max-keys: found 5, expected more than gc-max-keys (10), or the collector would never run")
	checkMessage(t, loaders[limiterBinary](append(standalone, "--config", path), []string{"LEVEE_MAX_KEYS=6"}),
		"LEVEE_MAX_KEYS: found 6, expected more than gc-max-keys (10), or the collector would never run")
}

// Validate judges a struct that no source has set, by the same rules.
func TestValidate(t *testing.T) {
	l := limiter(t, standalone, nil)
	if err := l.Validate(); err != nil {
		t.Fatalf("a loaded configuration: %v", err)
	}
	l.DrainTimeout = time.Millisecond
	l.MaxKeys = -1
	l.NoQuota = "perhaps"
	l.Storage.Addrs = []string{"x"}
	checkMessage(t, l.Validate(), `drain-timeout: found "1ms", expected a duration such as 15s, 10m or 1h, at least 1s`+"\n"+
		`no-quota: found "perhaps", expected one of accept, reject, fail`+"\n"+
		`max-keys: found "-1", expected a whole number of at least 0`+"\n"+
		`storage-addrs: found "x", expected `+expectEndpoint)
	if l.DrainTimeout != time.Millisecond {
		t.Error("Validate changed the configuration")
	}

	l = limiter(t, standalone, nil)
	l.InstanceID, l.Standalone, l.GossipAddr = "", false, netip.MustParseAddrPort("1.2.3.4:7373")
	checkMessage(t, l.Validate(), "instance-id: this host has no name, so the instance needs one\n"+
		"storage-addrs: a file store serves standalone limiters only; set standalone, or name the endpoints of etcd")

	if err := new(Observer).Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("a zero observer: %v", err)
	}
	if err := new(ClientProxy).Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("a zero client-proxy: %v", err)
	}
}

func TestErrorFields(t *testing.T) {
	path := write(t, "\ngc-perod: 1h")
	var e *Error
	if err := loaders[limiterBinary](append(standalone, "--config", path), nil); !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
	if e.ExitCode() != 78 {
		t.Errorf("exit code %d, want 78", e.ExitCode())
	}
	if e.Key != "gc-perod" || e.Where != path+":2: gc-perod" || e.Problem != "unknown key; did you mean gc-period?" {
		t.Errorf("got %+v", *e)
	}
}
