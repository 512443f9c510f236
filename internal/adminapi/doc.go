// Package adminapi is what daemons say of themselves on their admin ports, for
// programs: the console, and leveectl. The types are the JSON of the pages, and
// the client asks for them.
//
//   - GET /status: [Status]
//   - GET /top: [Top]
//   - GET /bucket?resource=R&prefix=P&method=M, of a limiter: [Bucket]
//
// Later versions only add fields; whoever reads passes over those that it does
// not know.
package adminapi
