package console

import "time"

// frame is the whole at one moment: the JSON of an event, and what the scripts
// read.
type frame struct {
	Time    time.Time `json:"time"`
	Members []member  `json:"members"`
	// Rates are answers a second: of all limiters, and failed ones of the
	// client-proxies, too. Absent in the first round.
	Rates *rates `json:"rates,omitempty"`
	// Limiters counts them; absent without a cluster.
	Limiters *limiters `json:"limiters,omitempty"`
	Store    store     `json:"store"`
	// Hottest and Rejected are keys over the whole cluster; null when no member
	// counts them.
	Hottest  []hotKey `json:"hottest"`
	Rejected []hotKey `json:"rejected"`
	// Problems are sentences, the worst first.
	Problems []problem `json:"problems"`
}

// rates are answers a second.
type rates struct {
	Accepted float64 `json:"accepted"`
	Rejected float64 `json:"rejected"`
	Failed   float64 `json:"failed"`
}

func (r *rates) sum() float64 { return r.Accepted + r.Rejected + r.Failed }

type limiters struct {
	Serving int `json:"serving"`
	Silent  int `json:"silent"`
	// Wanted is the largest group size.
	Wanted int `json:"wanted"`
}

// health is how a member is.
type health string

const (
	healthy health = "good"
	unusual health = "warn" // worth a look
	faulty  health = "bad"
)

// member is one process.
type member struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	// State is a word, and Words what there is to say about it.
	State  string `json:"state"`
	Words  string `json:"words,omitempty"`
	Health health `json:"health"`

	Version string    `json:"version"`
	Service string    `json:"service,omitempty"`
	Admin   string    `json:"admin,omitempty"`
	Since   time.Time `json:"since"`
	// Revision is what is in force there; absent when that is not known.
	Revision *int64 `json:"revision,omitempty"`
	Lags     bool   `json:"lags,omitempty"`
	Rates    *rates `json:"rates,omitempty"`
	Keys     *int64 `json:"keys,omitempty"`
	// Here is true of the process that serves the console.
	Here bool `json:"here,omitempty"`
}

// store is the shared configuration, over all members.
type store struct {
	// Revision is the newest that any member has.
	Revision int64 `json:"revision"`
	// InForce of Known members have it; Unknown others did not say.
	InForce int `json:"in_force"`
	Known   int `json:"known"`
	// Lagging have had an older one for a second and more.
	Lagging []string `json:"lagging,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	// Away are those that are not connected to the store.
	Away []string `json:"away,omitempty"`
	// Invalid is how many entries cannot take effect.
	Invalid int     `json:"invalid"`
	Faults  []fault `json:"faults,omitempty"`
}

// fault is an entry that cannot take effect.
type fault struct {
	Key string `json:"key"`
	Why string `json:"why"`
	// At is how many members say so.
	At int `json:"at"`
}

// hotKey is a bucket that is much used.
type hotKey struct {
	Resource string `json:"resource"`
	Prefix   string `json:"prefix,omitempty"`
	Method   string `json:"method,omitempty"`
	Level    string `json:"level"`
	// Cut is true where the parts are too long to be shown whole.
	Cut bool `json:"cut,omitempty"`
	// Rate is about how many hits a second, lately; it is at most Error away.
	Rate  float64 `json:"rate"`
	Error float64 `json:"error"`
}

// problem is a sentence about what is not as it should be.
type problem struct {
	Health health `json:"health"`
	Text   string `json:"text"`
}
