package manual

import (
	"slices"
	"strings"

	"github.com/levee-project/levee/internal/config"
)

// sources says where options come from.
const sources = `Each option can be set in three places, the later one over the earlier one: in the YAML file that
--config names (listen-addr: VALUE), in the environment (LEVEE_LISTEN_ADDR=VALUE), and on the command line
(--listen-addr VALUE).`

// options writes the options of a program, in its groups.
func (p *page) options(program string) {
	p.heading("OPTIONS")
	p.paragraphs(sources + " " + optionsRef + " tells more.")
	group := ""
	for _, o := range config.Options(program) {
		if o.Group != group {
			group = o.Group
			p.subheading(group)
		}
		text := o.Help
		if o.Default != "" && o.Value != "" {
			text += " Default: " + o.Default + "."
		}
		if o.Reload {
			text += " SIGHUP applies a change."
		}
		p.item("--"+o.Name, o.Value, text)
	}
}

// optionsPage is levee.yaml(5).
func optionsPage() *page {
	p := newPage("levee.yaml", 5, "what one process of Levee needs to know: the options of all programs")
	p.heading("DESCRIPTION")
	p.paragraphs(sources + `

A file is one YAML mapping of options to values, such as:`)
	p.code(`
standalone: true
listen-addr: "0.0.0.0:5454"
storage-addrs:
  - "file:///etc/levee/storage.yaml"
gc-max-keys: 1000000
gc-period: 1m`)
	p.then(`All sources are read strictly: an unknown name, a value of the wrong type and an impossible combination stop the
start with exit code 78 and a line for each mistake, which names the place and, for a name, the nearest that is
known. --check-config does only that. One environment can serve several programs: a variable with an option of another one
is passed over; in a file and on a command line it is a mistake. SIGHUP has a daemon read everything
again, and apply what can change while it runs; the log names what needs a restart.

leveectl config render PROGRAM writes a file with every option of a program explained.`)
	p.types()
	p.heading("OPTIONS")
	for _, o := range everyOption() {
		p.item(o.Name+":", o.Type, o.Help)
		p.more(o.remarks())
	}
	p.heading("FILES")
	p.item("/etc/levee/limiter.yaml, observer.yaml, client-proxy.yaml", "", "Those of the daemons, as their units name them.")
	p.item("/etc/levee/leveectl.yaml", "", "That of leveectl, which it reads without being told.")
	p.see(limiterRef, observerRef, proxyRef, toolRef, storageRef)
	return p
}

func (p *page) types() {
	p.heading("TYPES")
	p.item("text", "", "In quotes where YAML would take it for something else.")
	p.item("number", "", "A whole number without quotes, at least 0.")
	p.item("true or false", "", "Without quotes. On the command line the name alone is true: --verbose, --verbose=false.")
	p.item("list", "", "A YAML list of texts. In the environment and on the command line commas separate them.")
	p.then(`Durations are texts such as 100ms, 15s, 10m or 1h. Addresses to listen on are ip:port, [ipv6]:port, or :port for all
addresses; host names are refused there.`)
}

// option is an option of one or several programs.
type option struct {
	config.Option
	programs []string
	defaults []string // of the programs
}

// everyOption merges the options of all programs: those that are defined alike are
// one.
func everyOption() (list []*option) {
	for _, program := range config.Programs() {
		for _, o := range config.Options(program) {
			if !o.InFile {
				continue
			}
			i := slices.IndexFunc(list, func(l *option) bool { return l.Name == o.Name && l.Help == o.Help && l.Type == o.Type })
			if i < 0 {
				i = len(list)
				list = append(list, &option{Option: o})
			}
			list[i].programs = append(list[i].programs, program)
			list[i].defaults = append(list[i].defaults, o.Default)
		}
	}
	return list
}

// remarks are what is to be said beside what the option does.
func (o *option) remarks() string {
	text := "Of " + strings.Join(o.programs, ", ") + "."
	same := !slices.ContainsFunc(o.defaults, func(d string) bool { return d != o.defaults[0] })
	switch {
	case same && o.Default != "":
		text += " Default: " + o.Default + "."
	case !same:
		text += " Defaults: " + strings.Join(o.defaults, ", ") + "."
	}
	if o.Reload {
		text += " SIGHUP applies a change."
	}
	return text
}
