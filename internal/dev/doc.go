// Package dev brings up a whole cluster on one machine, for a developer: a real
// etcd and the shipped binaries as processes of their own, with one log.
//
// A process that dies is started again after a while, as systemd would do it, so
// that kill -9 and kill -STOP show what a cluster does about them. [Main] is all
// of the program levee-dev.
//
// Nothing here is part of the product, and no daemon imports it.
package dev
