// Package topologyv1 is generated from topology.proto, by `make generate`.
package topologyv1
