// Package quota gives the entries under limit/ and factor/ of the shared tree
// their meaning. A [Compiler] turns each version of the raw tree into an
// immutable [Snapshot], which answers, for one attempt, which quota applies and
// which bucket is drawn from. It is pure: no I/O, no goroutine, no clock.
//
// The words:
//
//   - Quota: how many hits a second pass (rate) and how many more are tolerated
//     at once (burst), as the total of a whole group of limiters.
//   - KEY: the resource R an entry is for. SUBKEY: what an entry says about a
//     part of it, spelled P/M, M or P (prefix P, method M).
//   - Level: full key R/P/M, method R/M, or resource R. A quota is looked for in
//     this order, at each level under the resource's own entries before that
//     level's default; see [Snapshot.Resolve].
//   - Bucket: the attempt's key cut to the level at which its quota was found,
//     as a tuple; see [AppendBucket].
//   - Factor: the wanted size of a resource's group of limiters, D.
//   - Canonical: the one of several spellings of an entry's key that tree.Escape
//     and the functions of this package write.
//   - In force: an entry that has effect, with the value that has it. An entry
//     whose value is invalid stays in force with its last good one.
//
// The entries, as [ParsePath] reads them:
//
//	limit/key_default                    quota
//	limit/subkey_default/<SUBKEY>        quota
//	limit/key/<KEY>/quota                quota
//	limit/key/<KEY>/sublimit/<SUBKEY>    quota
//	factor/default                       whole number
//	factor/key/<KEY>                     whole number
//
// Entries under observer/ belong to another package and are passed over; any
// other is a fault.
package quota
