// Package gcra is the Generic Cell Rate Algorithm of ITU-T Recommendation
// I.371 (03/2004), annex A, in its virtual scheduling form: one decision for
// one bucket, as arithmetic. It has no clock, no state of its own, no lock.
//
// The words, used with these meanings all over Levee:
//
//   - Hit: what a quota counts, one request unless the client says otherwise
//     (the recommendation's cell).
//   - Emission interval T: nanoseconds between two hits at exactly the
//     permitted rate; T = D / rate for a group of D limiters.
//   - Tolerance τ: nanoseconds by which a hit may come too early and still
//     conform; τ = (burst / D) · T = burst / rate.
//   - TAT, theoretical arrival time: when the next hit would be due if the hits
//     so far had come at exactly the permitted rate. It is the whole state of a
//     bucket.
//   - Debt: TAT − now where that is positive; divided by T, the hits that the
//     bucket is ahead of its rate. A bucket without debt is idle, and equals one
//     never seen.
//   - Conforming: an attempt that passes.
//   - Fit: ⌊burst / D⌋ + 1, the most hits that an idle bucket passes at once.
//
// An attempt of n hits at time t:
//
//	start = max(TAT, t)
//	conforming iff start + (n−1)·T − t ≤ τ, and then TAT = start + n·T
//
// τ is compared with the TAT before the attempt, as the recommendation does.
// Implementations that compare with the TAT after it have a tolerance that is
// one emission interval larger; do not mix the two.
//
// A worked example: rate 1, burst 4, D = 1 gives T = 1 s, τ = 4 s. Six hits at
// t = 0 find TAT − t = 0, 1, 2, 3, 4, 5 s: five conform, the sixth does not. At
// t = 3 s the bucket owes 2 s, and hits conform until it owes more than 4 s:
// three of them.
package gcra
