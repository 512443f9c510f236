package config

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// A manual has every option of every program, and says of each what it needs.
func TestOptions(t *testing.T) {
	for _, program := range Programs() {
		list := Options(program)
		names := map[string]Option{}
		for _, o := range list {
			names[o.Name] = o
			if o.Type == "" || o.Help == "" || o.Group == "" && program != toolBinary || (o.Value == "") != (o.Type == "true or false") {
				t.Errorf("%s: %+v", program, o)
			}
			if o.InEnvironment != (o.Variable == variablePrefix+strings.ToUpper(strings.ReplaceAll(o.Name, "-", "_"))) {
				t.Errorf("%s: %s in the environment: %+v", program, o.Name, o)
			}
		}
		fresh(t, program).flags.VisitAll(func(f *pflag.Flag) {
			if o, ok := names[f.Name]; !ok || o.Help != f.Usage {
				t.Errorf("%s has no %s in the manual: %+v", program, f.Name, o)
			}
		})
		if config := names["config"]; config.InFile || !config.InEnvironment {
			t.Errorf("%s: %+v", program, config)
		}
	}
	if list := Options("nginx"); list != nil {
		t.Errorf("%+v", list)
	}
}

func TestOptionDetails(t *testing.T) {
	want := map[string]Option{
		"listen-addr":   {Value: "IP:PORT", Type: "text", Default: "0.0.0.0:5454", InFile: true, InEnvironment: true},
		"verbose":       {Value: "", Type: "true or false", Default: "false", InFile: true, InEnvironment: true, Reload: true},
		"max-keys":      {Value: "NUMBER", Type: "number", Default: "0", InFile: true, InEnvironment: true, Reload: true},
		"storage-addrs": {Value: "URL,...", Type: "list", Default: "", InFile: true, InEnvironment: true},
		"check-config":  {Value: "", Type: "true or false", Default: "false"},
	}
	for _, o := range Options(limiterBinary) {
		w, ok := want[o.Name]
		if !ok {
			continue
		}
		delete(want, o.Name)
		w.Name, w.Variable, w.Group, w.Help = o.Name, o.Variable, o.Group, o.Help
		if o != w {
			t.Errorf("%+v, want %+v", o, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}
