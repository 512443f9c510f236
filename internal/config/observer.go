package config

// Observer is the configuration of an observer. Its addresses are in the shared
// configuration, under observer/<ObserverName>.
type Observer struct {
	Common
	Gossip
	// ObserverName is this observer's name in the shared configuration. Never
	// empty.
	ObserverName string
	// HTTPAddr is the address of the console, as net.Listen takes it. Empty means
	// none.
	HTTPAddr string
}

// Validate checks the configuration as it is. It opens no file and no socket.
// The error joins everything that is wrong and matches ErrInvalid.
func (o *Observer) Validate() error { return bind(observerBinary, o).validate(o) }

func (o *Observer) define(s *set) {
	s.group("Observer")
	define(s, "observer-name", &o.ObserverName, "", identifier(), restart,
		"Name under which observer/<NAME> in the shared configuration holds the addresses to listen on. "+
			"Empty = instance-id.")
	define(s, "http-addr", &o.HTTPAddr, "", optionalAddress(), restart,
		"Address of the console (HTTP, read only). Empty = off.")
	o.Gossip.define(s)
	o.Common.define(s, "127.0.0.1:9455")
}

// resolve names the observer after its instance when nothing else does.
func (o *Observer) resolve() {
	o.Common.resolve()
	if o.ObserverName == "" {
		o.ObserverName = o.InstanceID
	}
}

func (o *Observer) combinations(s *set) {
	o.Common.combinations(s)
	o.Storage.combinations(s, "a file store serves standalone limiters only; name the endpoints of etcd")
	if o.ObserverName == "" && o.InstanceID != "" {
		s.fault("observer-name", "an observer needs a name")
	}
}
