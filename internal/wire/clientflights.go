package wire

// flights are the calls that are under way on a connection, by their streams.
//
// Numbers of streams only rise, and all calls have the same time, so a ring is
// enough: what is oldest in it is also the first to be overdue.
type flights struct {
	ring [flightSpan]flight
	tail uint32 // the oldest stream that may be open
	due  uint32 // the oldest stream that may have a call
	next uint32 // the next stream
	open int    // streams that are open
	live int    // those that have a call
}

// flightSpan is how many streams the oldest one and the newest may be apart: a
// power of two, and some times maxStreams, since answers may overtake each other.
const flightSpan = 1024

// flight is one stream.
type flight struct {
	call  Call // nil once its time is over: then the answer is awaited for nobody
	asked int64
	part  *partAnswer // what has come of an answer that is not whole
	open  bool
}

func (f *flights) start(first uint32) { f.tail, f.due, f.next = first, first, first }

func (f *flights) at(id uint32) *flight { return &f.ring[id>>1%flightSpan] }

// find returns an open stream, or nil.
func (f *flights) find(id uint32) *flight {
	if id-f.tail >= f.next-f.tail {
		return nil
	}
	if at := f.at(id); at.open {
		return at
	}
	return nil
}

// idle reports whether no stream has that number yet, or ever.
func (f *flights) idle(id uint32) bool { return id&1 == 0 || id >= f.next }

// skip passes over the next number, which is used for no call.
func (f *flights) skip() uint32 {
	id := f.next
	f.next += 2
	return id
}

// add opens the next stream, for which there has to be room.
func (f *flights) add(now int64, call Call) uint32 {
	id := f.skip()
	*f.at(id) = flight{call: call, asked: now, open: true}
	f.open++
	f.live++
	return id
}

// room reports whether the ring has a place for the next stream, and moves the
// tail past what is closed. A stream that waits for nobody and is in the way is
// returned, to be reset.
func (f *flights) room() (ok bool, reset uint32) {
	if f.next-f.tail < 2*flightSpan {
		return true, 0
	}
	f.trim()
	if f.next-f.tail < 2*flightSpan {
		return true, 0
	}
	if f.at(f.tail).call != nil {
		return false, 0
	}
	id := f.tail
	f.take(id)
	f.trim()
	return true, id
}

// trim moves the tail past what is closed.
func (f *flights) trim() {
	for f.tail != f.next && !f.at(f.tail).open {
		f.tail += 2
	}
	if f.due-f.tail > f.next-f.tail {
		f.due = f.tail
	}
}

// take closes an open stream and returns its call, or nil.
func (f *flights) take(id uint32) Call {
	at := f.at(id)
	call := at.call
	*at = flight{}
	f.open--
	if call != nil {
		f.live--
	}
	return call
}

// overdue takes the oldest call away from its stream, which stays open, if it was
// asked before a time. Otherwise it returns nil.
func (f *flights) overdue(before int64) Call {
	f.trim()
	for f.due != f.next {
		at := f.at(f.due)
		if at.call != nil {
			if at.asked > before {
				return nil
			}
			call := at.call
			at.call = nil
			f.live--
			return call
		}
		f.due += 2
	}
	return nil
}

// forgotten closes the oldest stream if it waits for nobody and was asked before
// a time. Otherwise it returns 0.
func (f *flights) forgotten(before int64) uint32 {
	f.trim()
	if f.tail == f.next || f.at(f.tail).call != nil || f.at(f.tail).asked > before {
		return 0
	}
	id := f.tail
	f.take(id)
	return id
}

// above closes all streams above a number and returns their calls.
func (f *flights) above(last uint32) (calls []Call) {
	f.trim()
	for id := f.tail; id != f.next; id += 2 {
		if id <= last || !f.at(id).open {
			continue
		}
		if call := f.take(id); call != nil {
			calls = append(calls, call)
		}
	}
	return calls
}
