package manual

// storagePage is levee-storage(5).
func storagePage() *page {
	p := newPage("levee-storage", 5, "what all processes of Levee share: quotas, group sizes, observers")
	p.heading("DESCRIPTION")
	p.paragraphs(`The shared configuration is a tree of entries, each a key with a value. It is in etcd, below the path that
storage-prefix names (/levee), or for limiters that serve alone in one YAML file. Daemons follow it: a change is in
force within a second. leveectl(1) shows and changes it in either store.`)
	p.entries()
	p.quotas()
	p.heading("GROUPS")
	p.paragraphs(`A factor is the number D of limiters that share a resource: a whole number from 1 to 65535, 1 if no entry
says otherwise. Each of them passes rate / D and has burst / D. Keep burst / D at 3 or more. A limiter that serves
alone looks at no factor.`)
	p.heading("OBSERVERS")
	p.paragraphs(`An observer's entry has the two addresses that it listens on: {"gossip": "IP:PORT", "service": "IP:PORT"}.
Limiters and other observers reach it at the first, TCP and UDP; client-proxies and leveectl at the second, gRPC.`)
	p.heading("ENCODING")
	p.paragraphs(`KEY, SUBKEY and NAME may be percent-encoded, as in a URL, and leveectl always does that: everything but letters,
digits and - . _ ~ becomes %XX. A slash inside a KEY may be left as it is where only one reading is possible; the words quota and
sublimit as a whole segment of a KEY must be encoded. An entry that can be read in two ways has no effect, nor has
all but one of several spellings of the same entry.`)
	p.heading("MISTAKES")
	p.paragraphs(`An entry that is wrong never takes effect: the last good value stays in force; at a start the entry counts as
absent. The log names its key once, the metric levee_storage_invalid_entries counts it, and leveectl check tells
what is wrong with it.`)
	p.stores()
	p.see(toolRef, optionsRef, limiterRef, observerRef, proxyRef)
	return p
}

func (p *page) entries() {
	p.heading("ENTRIES")
	for _, e := range [][2]string{
		{"limit/key/KEY/sublimit/SUBKEY", "The quota of a part of a resource: SUBKEY is PREFIX/METHOD, METHOD or PREFIX."},
		{"limit/subkey_default/SUBKEY", "The quota of such a part of each resource that has no entry of its own for it."},
		{"limit/key/KEY/quota", "The quota of a resource."},
		{"limit/key_default", "The quota of each resource that has no entry of its own."},
		{"factor/key/KEY", "The group size of a resource."},
		{"factor/default", "The group size of each resource that has no entry of its own."},
		{"observer/NAME", "An observer's addresses."},
	} {
		p.item(e[0], "", e[1])
	}
	p.then(`For an attempt with a prefix and a method the first of these applies that is there: the resource's own entry for PREFIX/METHOD, the default for
it; the resource's own for METHOD, the default for it; the resource's own quota, the default of all. The attempt draws
from the bucket of the level at which its quota was found: all of resource, prefix and method; resource and method; or
resource. Where no quota applies, the option no-quota says what happens. leveectl explain goes through it.`)
}

func (p *page) quotas() {
	p.heading("QUOTAS")
	p.paragraphs(`A quota is an object such as {"rate": 6600, "burst": 165}. Its numbers are what a whole group of limiters passes.`)
	p.item("rate", "", "Requests a second that pass: 0, which rejects all, or 1e-7 to 1e9. Required.")
	p.item("burst", "", "How many more may come at once: 0 to 1e9. An idle bucket passes burst + 1, rounded down. Required.")
	p.item("per", "", "Makes rate a count per this time, such as 1m, 12h or 1d; 1ms to 366d.")
	p.item("shadow", "", "With true, what exceeds the quota is counted, and accepted.")
	p.then(`For N requests a second write a rate of N x 1.1, and a burst of rate / D x 0.1 for a group of D limiters; leveectl limit size works it out, and tells what is lost.`)
}

func (p *page) stores() {
	p.heading("ETCD")
	p.paragraphs(`Keys are as above, below storage-prefix; values are JSON, as in:`)
	p.code(`
/levee/limit/key/photos/quota                 {"rate": 55, "burst": 5.5}
/levee/limit/key/photos/sublimit/albums%2FGET {"rate": 6600, "burst": 165}
/levee/factor/default                         2
/levee/observer/obs-1                         {"gossip": "10.0.0.1:7373", "service": "10.0.0.1:5460"}`)
	p.heading("FILE")
	p.paragraphs(`A storage file has the same tree as nested mappings; a SUBKEY is one key, with its slash:`)
	p.code(`
limit:
  key_default: {rate: 110, burst: 11}
  subkey_default:
    DELETE: {rate: 5.5, burst: 0.55}
  key:
    photos:
      quota: {rate: 55, burst: 5.5}
      sublimit:
        albums/GET: {rate: 6600, burst: 165}
factor:
  default: 1`)
	p.then(`Edit it with any editor, or with leveectl, which keeps comments and order. It is read again when it changes; one that cannot be read
changes nothing. /usr/share/levee/examples/storage.yaml is a longer one, with comments.`)
}
