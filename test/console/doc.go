// Package console holds the tests of the console in a real browser: Chromium,
// without a window, driven through the DevTools protocol, against whole clusters.
// Screenshots are left in dist/console.
package console
