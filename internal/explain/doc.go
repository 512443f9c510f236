// Package explain tells a person how an attempt would be decided: where a quota
// is looked for, which one applies, what is drawn from, and which limiters decide.
// It decides nothing itself: leveectl and the console show it.
package explain
