package ansible

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/levee-project/levee/test/harness"
)

// lintTime bounds one linter.
const lintTime = 5 * time.Minute

// collection is the directory of the collection.
func collection(t *testing.T) string {
	t.Helper()
	root, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "ansible")
}

// The linters of Ansible find nothing, in the profile for production.
func TestLint(t *testing.T) {
	for _, line := range []string{
		"yamllint --strict .",
		"ansible-lint --offline --nocolor -q",
		"ansible-playbook --syntax-check -i inventories/small site.yml upgrade.yml remove.yml verify.yml",
		"ansible-playbook --syntax-check -i inventories/large site.yml upgrade.yml remove.yml verify.yml",
		"ansible-playbook --syntax-check -i inventories/standalone-pair site.yml upgrade.yml remove.yml verify.yml",
	} {
		t.Run(line, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), lintTime)
			defer cancel()
			args := strings.Fields(line)
			cmd := exec.CommandContext(ctx, args[0], args[1:]...)
			cmd.Dir = collection(t)
			cmd.Env = append(os.Environ(), "ANSIBLE_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir(), "LC_ALL=C.UTF-8")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// specs are the argument specifications of a role.
type specs struct {
	ArgumentSpecs struct {
		Main struct {
			Options map[string]struct {
				Type        string `yaml:"type"`
				Description string `yaml:"description"`
				Default     any    `yaml:"default"`
			} `yaml:"options"`
		} `yaml:"main"`
	} `yaml:"argument_specs"`
}

func load(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

var tableRow = regexp.MustCompile("(?m)^\\| `(levee_[a-z_]+)` \\| .+ \\| .+ \\|$")

// Every variable of a role has a default, a specification that agrees with it, and a row
// in the table of its README. A comment in defaults tells what it is.
func TestVariables(t *testing.T) {
	roles, err := filepath.Glob(filepath.Join(collection(t), "roles", "*"))
	if err != nil || len(roles) == 0 {
		t.Fatalf("roles %v, error %v", roles, err)
	}
	for _, role := range roles {
		t.Run(filepath.Base(role), func(t *testing.T) {
			var s specs
			load(t, filepath.Join(role, "meta", "argument_specs.yml"), &s)
			options := s.ArgumentSpecs.Main.Options
			defaults := map[string]any{}
			load(t, filepath.Join(role, "defaults", "main.yml"), &defaults)
			readme, err := os.ReadFile(filepath.Join(role, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			var rows []string
			for _, row := range tableRow.FindAllStringSubmatch(string(readme), -1) {
				rows = append(rows, row[1])
			}
			slices.Sort(rows)
			if specified := slices.Sorted(maps.Keys(options)); !slices.Equal(rows, specified) {
				t.Errorf("the README has the variables\n%v, the specifications have\n%v", rows, specified)
			}
			for name, value := range defaults {
				o, ok := options[name]
				if !ok || o.Type == "" || o.Description == "" {
					t.Errorf("%s has no specification with type and description", name)
				}
				if !workedOut(value) && !same(value, o.Default) {
					t.Errorf("%s is %v by default, its specification says %v", name, value, o.Default)
				}
			}
			wantComments(t, filepath.Join(role, "defaults", "main.yml"))
		})
	}
}

// workedOut says whether a default is an expression, which a specification cannot have.
func workedOut(value any) bool {
	text, ok := value.(string)
	return ok && strings.Contains(text, "{{")
}

func same(a, b any) bool {
	x, errX := yaml.Marshal(a)
	y, errY := yaml.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// wantComments fails the test unless each paragraph of a file of defaults begins with a
// comment.
func wantComments(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for paragraph := range strings.SplitSeq(strings.TrimPrefix(string(text), "---\n"), "\n\n") {
		if !strings.HasPrefix(paragraph, "#") {
			t.Errorf("%s: no comment above\n%s", path, paragraph)
		}
	}
}

// Roles are looked at by other hosts through defaults that the shared role repeats, since
// those of another host cannot be seen: they are the same.
func TestRepeatedDefaults(t *testing.T) {
	vars, err := os.ReadFile(filepath.Join(collection(t), "roles", "levee_common", "vars", "main.yml"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`v\.(levee_(observer|limiter|client_proxy)_\w+) \| default\(([^)]+)\)`).FindAllStringSubmatch(string(vars), -1)
	if len(found) == 0 {
		t.Fatal("no default is repeated: has the form changed?")
	}
	for _, f := range found {
		defaults := map[string]any{}
		load(t, filepath.Join(collection(t), "roles", "levee_"+f[2], "defaults", "main.yml"), &defaults)
		repeated := strings.NewReplacer("'", "", " ~ h", "{{ inventory_hostname }}").Replace(f[3])
		if repeated == "h" {
			repeated = "{{ inventory_hostname }}"
		}
		want, err := yaml.Marshal(defaults[f[1]])
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Trim(strings.TrimSpace(string(want)), `'"`); got != repeated {
			t.Errorf("%s is %s by default, and %s in levee_common", f[1], got, repeated)
		}
	}
}
