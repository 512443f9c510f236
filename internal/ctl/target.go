package ctl

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/levee-project/levee/internal/attempt"
	"github.com/levee-project/levee/internal/quota"
)

// target is what a command line is about: RESOURCE [METHOD], or a default.
type target struct {
	byDefault              bool
	resource               string
	prefix, method         string
	prefixFlag, methodFlag string
}

// flags adds the ways to name a target. Commands that can be about a default get
// a flag for it.
func (g *target) flags(cmd *cobra.Command, defaults bool) {
	cmd.Flags().StringVar(&g.prefixFlag, "prefix", "", "`PREFIX` (X-Prefix): a path inside the resource")
	cmd.Flags().StringVar(&g.methodFlag, "method", "", "`METHOD` (X-Method), the same as the argument METHOD")
	if defaults {
		cmd.Flags().BoolVar(&g.byDefault, "default", false,
			"The default of all resources that have no entry of their own; then there is no RESOURCE argument")
	}
}

// parse reads the arguments. Slashes around a prefix are trimmed, as the daemons
// do.
func (g *target) parse(args []string) error {
	if !g.byDefault {
		if len(args) == 0 {
			return usage("the RESOURCE is missing")
		}
		g.resource, args = args[0], args[1:]
		if err := checkPart("RESOURCE", g.resource); err != nil {
			return err
		}
	}
	g.method = g.methodFlag
	switch {
	case len(args) > 1 || len(args) == 1 && g.methodFlag != "":
		return usage("there are too many arguments: %q", args[len(args)-1])
	case len(args) == 1:
		g.method = args[0]
	}
	g.prefix = strings.Trim(g.prefixFlag, "/")
	if g.method != "" {
		if err := checkPart("METHOD", g.method); err != nil {
			return err
		}
	}
	if g.prefixFlag != "" {
		return checkPart("prefix", g.prefix)
	}
	return nil
}

// checkPart refuses what no attempt can have.
func checkPart(what, part string) error {
	switch {
	case strings.Trim(part, " \t") == "":
		return usage("the %s is empty", what)
	case len(part) > attempt.MaxKeyPart:
		return usage("the %s has %d bytes: no attempt has more than %d", what, len(part), attempt.MaxKeyPart)
	}
	return nil
}

// limitKey is the canonical key of the target's quota.
func (g *target) limitKey() string {
	subkey := quota.Subkey(g.prefix, g.method)
	switch {
	case g.byDefault && subkey == "":
		return quota.KeyDefault
	case g.byDefault:
		return quota.SubkeyDefault(subkey)
	case subkey == "":
		return quota.ForKey(g.resource)
	default:
		return quota.ForSubkey(g.resource, g.prefix, g.method)
	}
}

// factorKey is the canonical key of the target's group size.
func (g *target) factorKey() string {
	if g.byDefault {
		return quota.FactorDefault
	}
	return quota.FactorFor(g.resource)
}

// attempt is the target as the question of a client.
func (g *target) attempt() *attempt.Attempt {
	return &attempt.Attempt{Resource: []byte(g.resource), Prefix: []byte(g.prefix), Method: []byte(g.method), Hits: 1}
}
