// Package keepalived renders the configuration of keepalived for hosts that share
// virtual addresses: each address is on one host at a time, and moves when that
// host, its network or its limiter fails. The template in this directory is the
// only place that knows keepalived's syntax.
//
// What is decided there, and why:
//
//   - VRRPv3 with an advertisement every 0.1 s: a host that vanishes is missed
//     after 0.3 s. Adverts go to the peers only (unicast), from a time to live of
//     255, so that they cannot come from beyond a router.
//   - nopreempt, so that a host that comes back takes nothing away from one that
//     works. Priorities are 254, 253 and so on, because whoever takes over after a
//     resignation waits (256 - priority) / 256 of an advertisement.
//   - Two checks. The limiter writes the tracked file, which counts within
//     milliseconds; a script asks it for its health, which finds a process that
//     hangs. Either ends in the state FAULT, which resigns at once: a lower priority
//     would change nothing, because of nopreempt.
//   - One instance for a group, IPv4 and IPv6: the addresses of the other family are
//     kept out of the adverts (virtual_ipaddress_excluded), and so move with the
//     rest. An instance for each family would be two elections that can differ.
package keepalived
