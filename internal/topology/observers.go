package topology

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/levee-project/levee/internal/tree"
)

// observerPrefix begins the key of every observer's entry in the shared tree.
const observerPrefix = "observer/"

// ObserverKey is the canonical key of an observer's entry in the shared tree.
func ObserverKey(name string) string { return observerPrefix + tree.Escape(name) }

// Addresses are those of an observer, as its entry has them.
type Addresses struct {
	// Name is the observer's, decoded.
	Name string
	// Gossip is its address in the overlay, Service that of its gRPC interface.
	Gossip, Service netip.AddrPort
}

// ParseObserver reads the value of an observer's entry:
//
//	{"gossip": "10.0.0.1:7373", "service": "10.0.0.1:5454"}
//
// The error names the field that is wrong and what it may be.
func ParseObserver(value string) (Addresses, error) {
	var fields struct {
		Gossip  *string `json:"gossip"`
		Service *string `json:"service"`
	}
	d := json.NewDecoder(strings.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&fields); err != nil {
		return Addresses{}, fmt.Errorf(`%w; expected {"gossip": "ip:port", "service": "ip:port"}`, err)
	}
	if d.More() {
		return Addresses{}, errors.New("something follows the JSON object")
	}
	var a Addresses
	var err error
	if a.Gossip, err = parseAddress("gossip", fields.Gossip); err != nil {
		return Addresses{}, err
	}
	if a.Service, err = parseAddress("service", fields.Service); err != nil {
		return Addresses{}, err
	}
	return a, nil
}

func parseAddress(field string, text *string) (netip.AddrPort, error) {
	if text == nil {
		return netip.AddrPort{}, fmt.Errorf("%s is missing; expected an address such as 10.0.0.1:7373", field)
	}
	a, err := netip.ParseAddrPort(*text)
	switch {
	case err != nil:
		return netip.AddrPort{}, fmt.Errorf("%s is %q, expected an address such as 10.0.0.1:7373", field, *text)
	case a.Port() == 0 || a.Addr().IsUnspecified():
		return netip.AddrPort{}, fmt.Errorf("%s is %q, expected an address and port at which others reach the observer",
			field, *text)
	}
	return a, nil
}

// Observers keeps the observers of the shared tree, with the last good value of
// each entry. The zero value has seen no tree. It is for one goroutine at a time.
type Observers struct {
	entries map[string]observerEntry // by key as stored
}

type observerEntry struct {
	good  string // the raw value in force; empty for none
	addrs Addresses
}

// Take returns the observers in force after t, sorted by name, and the entries
// that have no effect as they are stored, sorted by key. An invalid value leaves
// the last good one in force.
func (o *Observers) Take(t *tree.Tree) (list []Addresses, faults []tree.Fault) {
	entries := map[string]observerEntry{}
	for key, raw := range t.Entries {
		escaped, ok := strings.CutPrefix(key, observerPrefix)
		if !ok {
			continue
		}
		e := o.entries[key]
		addrs, err := parseEntry(escaped, raw)
		if err != nil {
			faults = append(faults, tree.Fault{Key: key, Err: err})
		} else {
			e = observerEntry{good: raw, addrs: addrs}
		}
		entries[key] = e
	}
	o.entries = entries
	return o.list(&faults), faults
}

func parseEntry(escaped, raw string) (Addresses, error) {
	name, err := tree.Unescape(escaped)
	switch {
	case err != nil:
		return Addresses{}, err
	case name == "":
		return Addresses{}, errors.New("the observer has no name")
	}
	addrs, err := ParseObserver(raw)
	addrs.Name = name
	return addrs, err
}

// list returns those in force. Of several spellings of one name the first in byte
// order is, and the others are faults.
func (o *Observers) list(faults *[]tree.Fault) (list []Addresses) {
	keys := make([]string, 0, len(o.entries))
	for key := range o.entries {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	first := map[string]string{}
	for _, key := range keys {
		e := o.entries[key]
		if e.good == "" {
			continue
		}
		if other, taken := first[e.addrs.Name]; taken {
			*faults = append(*faults, tree.Fault{Key: key, Err: fmt.Errorf("means the same observer as %s", other)})
			continue
		}
		first[e.addrs.Name] = key
		list = append(list, e.addrs)
	}
	slices.SortFunc(list, func(a, b Addresses) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(*faults, func(a, b tree.Fault) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

// InForce replaces, in entries as stored, the values of observers by those in
// force: what a cache must hold so that a start from it arrives at the same.
func (o *Observers) InForce(entries map[string]string) {
	for key, e := range o.entries {
		if e.good == "" {
			delete(entries, key)
		} else {
			entries[key] = e.good
		}
	}
}
