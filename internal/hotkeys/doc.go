// Package hotkeys finds the buckets that are used most, and those that reject
// most, among any number, in half a megabyte, at a cost of a few instructions an
// attempt.
//
// An attempt counts as many as its hits; a peek counts nothing. Counts decay: what
// was counted [HalfLife] ago counts half.
//
// # How
//
// Most attempts only cross a mask with a hash of their serial number
// ([Top.Draw]). One in N is counted, as N; one of h hits is, with the
// probability h/N, as N if h < N, and always, as h, if not. So counts are right on
// average. N is a power of two that follows the load: it is 1 up to about a
// thousand attempts a second, so that these are counted exactly, and grows until
// sixteen thousand a second are counted. Nobody waits: a sample that finds
// another one, or a reader, at work is lost, and [Report.Lost] says how many
// attempts these stood for.
//
// What is counted goes into two lists of [Slots] buckets each (Space-Saving;
// Metwally, Agrawal, El Abbadi 2005): a bucket that is not listed takes the place of
// the one with the smallest count, and takes that count over. It is what the bucket
// may have had before, and is told apart from what was seen since.
//
// # How wrong a count can be
//
// Let W be the decayed sum of everything counted, m the smallest count of a full
// list, which is never above W/Slots, and N the largest in force, decayed like
// the counts.
//
//   - A bucket that is listed was seen [Entry.Count] times, and the true count, of the
//     decayed hits of all its attempts, is at most [Entry.Error] away: at most
//     what it took over, plus four standard deviations of the sampling.
//   - A bucket that is not listed has at most [List.Unlisted]: m, and the same for
//     the sampling. So no flood of other buckets can push out one that has more
//     than W/Slots and what the sampling may hide.
//   - Four standard deviations of the sampling are 4·sqrt(V + 4M²) + 8M, where
//     M² = N(N-1), and V is the sum of w(w-h) over the samples of the bucket, each of
//     h hits counted as w: about 4·sqrt(N·count). One bucket in ten thousand may be
//     further away. Where everything was counted they are 0.
//   - What was lost comes on top.
//
// Counts decay in steps, at each [Top.Tick] and report. With a step a second they
// differ by 0.6 % from what continuous decay would make of them.
//
// # Memory
//
// Everything is in one block without pointers, of less than half a mebibyte.
// Names longer than [quota.ShortBucket] are cut for showing; buckets are told
// apart by 64 bits of a keyed hash of the whole name, and a cut name comes with a
// digest of the whole.
package hotkeys
