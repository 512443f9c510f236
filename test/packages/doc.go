// Package packages tests the packages as those who install them see them: built
// twice, signed, offered by repositories, and installed, upgraded and removed on
// machines that run systemd.
//
// prepare builds everything once for all tests:
//
//	first/    version 0.1.0, for both architectures
//	again/    the same once more, to compare
//	second/   version 0.2.0, with other defaults, for this architecture
//	repo/     signed repositories of first and second
//
// The files of each package are in testdata, with modes and owners. When they are
// meant to change, LEVEE_TEST_UPDATE=1 writes them anew.
package packages
