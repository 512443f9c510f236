// Package vrrp tests a pair of limiters that share a virtual address, as those who
// run it see it: two machines that run systemd, with the packages installed as the
// README says, and a client on the same network that makes an attempt every five
// milliseconds in each of four ways, through HTTP/1.1 and h2c, over new
// connections and over a kept one.
//
// A [watch] sees in both kernels who has the address, and since when; the client
// sees what that meant to it.
package vrrp
