package tree

// Sink takes what a store finds. Its functions are called one at a time.
type Sink struct {
	// Tree takes the whole tree; it must not be changed afterwards.
	Tree func(*Tree)
	// Status takes whether the store answers, at each change and at the start.
	Status func(Status)
}

// Status is the state of the way to the store.
type Status struct {
	// Connected is false while the store cannot be read.
	Connected bool
	// Err says why it cannot be read, naming the address or the file.
	Err error
	// Broken is true when the store was read but is not a tree at all (a YAML
	// file with a syntax error). The last tree stays in force.
	Broken bool
}
