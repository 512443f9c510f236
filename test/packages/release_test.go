package packages

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// goreleaser makes the same packages as nfpm alone: what it is told of them says
// the same, in its own words.
func TestReleaseSaysTheSame(t *testing.T) {
	var release struct {
		Packages []map[string]any `yaml:"nfpms"`
	}
	load(t, "../../.goreleaser.yaml", &release)
	all := append(slices.Clone(names), withoutProgram)
	if len(release.Packages) != len(all) {
		t.Fatalf("a release has %d packages", len(release.Packages))
	}
	for i, name := range all {
		var alone map[string]any
		load(t, filepath.Join("../../packaging/nfpm", name+".yaml"), &alone)
		released := release.Packages[i]
		for _, both := range [][2]string{
			{"name", "package_name"},
			{"depends", "dependencies"},
			{"recommends"},
			{"release"},
			{"section"},
			{"priority"},
			{"maintainer"},
			{"vendor"},
			{"homepage"},
			{"license"},
			{"description"},
			{"changelog"},
			{"umask"},
			{"overrides"},
			{"rpm"},
		} {
			inRelease := both[0]
			if both[1] != "" {
				inRelease = both[1]
			}
			if !reflect.DeepEqual(alone[both[0]], released[inRelease]) {
				t.Errorf("%s: %s is\n%v in a release\n%v alone", name, inRelease, released[inRelease], alone[both[0]])
			}
		}
		contents := alone["contents"].([]any)
		if name != withoutProgram {
			contents = contents[1:] // the program comes first, and goreleaser adds it by itself
		}
		if !reflect.DeepEqual(contents, released["contents"]) {
			t.Errorf("%s: the contents are\n%v in a release\n%v alone", name, released["contents"], contents)
		}
	}
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
