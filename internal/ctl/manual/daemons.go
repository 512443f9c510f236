package manual

// daemon is what the page of a daemon says beside its options.
type daemon struct {
	name, about string
	config      string // the file that its unit names
	description string
	drain       string // what SIGTERM does
	systemd     string
	see         []string
}

var daemons = []daemon{
	{
		name: "levee-limiter", about: "decides whether a request may pass now", config: "/etc/levee/limiter.yaml",
		description: `Levee-limiter answers POST /attempt over HTTP/1.1 and HTTP/2 (with prior knowledge, on the same port): 200
when the request may pass, 429 when its quota is used up, 500 when there is no decision. The field X-Resource names what is asked for; X-Prefix and
X-Method may say which part of it, and X-Hits for how many requests. GET /healthz on the same port answers 200 when the
limiter serves, and 503 while it starts or drains.

With standalone it serves alone, with the quotas of one file or of etcd. Otherwise it is one of a cluster: it joins the
gossip overlay at the observers that the shared configuration names, and passes its share of each quota.`,
		drain: `Drain: /healthz turns 503, and the limiter goes on answering until no attempt has come for a second, at most
drain-timeout. No attempt is lost. A second signal stops at once.`,
		systemd: `levee-limiter.service runs as user levee, in a sandbox. It is ready when it serves, and is started again when it
does not answer its own probe. levee-limiter.socket is optional: with it, the port survives a restart, and who connects
meanwhile waits instead of being refused.`,
		see: []string{observerRef, proxyRef},
	},
	{
		name: "levee-observer", about: "tells client-proxies who is in the cluster", config: "/etc/levee/observer.yaml",
		description: `Levee-observer is where limiters join the gossip overlay, and where client-proxies learn in real time, over gRPC, which
limiters serve. Its own addresses are in the shared configuration, under observer/NAME, so that all the others find
it: leveectl observer add writes them. It waits for its entry, and serves once its view of the overlay is stable.

Start at least two. Observers keep nothing on the disk that matters; one that is lost is started again, or another in its place.`,
		drain: "Leave the overlay and stop. A second signal stops at once.",
		see:   []string{limiterRef, proxyRef},
	},
	{
		name: "levee-client-proxy", about: "takes attempts to the limiters of a cluster", config: "/etc/levee/client-proxy.yaml",
		description: `Levee-client-proxy answers POST /attempt as levee-limiter(8) does, by asking the limiters of a cluster: the attempts
of each bucket go round its group of limiters, and a limiter that does not answer is passed over at once. It finds the observers in
the shared configuration, and the limiters through them.`,
		drain: `Drain: /healthz turns 503, and the proxy goes on answering until no attempt has come for a second, at most
drain-timeout. No attempt is lost. A second signal stops at once.`,
		see: []string{limiterRef, observerRef},
	},
}

func daemonPages() (list []*page) {
	for _, d := range daemons {
		list = append(list, d.page())
	}
	return list
}

func (d *daemon) page() *page {
	p := newPage(d.name, 8, d.about)
	p.heading("SYNOPSIS")
	p.paragraphs(d.name + " [--config FILE] [--OPTION VALUE ...]")
	p.heading("DESCRIPTION")
	p.paragraphs(d.description)
	p.options(d.name)
	p.heading("SIGNALS")
	p.item("SIGTERM, SIGINT", "", d.drain)
	p.item("SIGHUP", "", "Read the options again, and apply those that can change while it runs. The log names the others.")
	if d.name == "levee-limiter" {
		p.item("SIGUSR1", "", "Give the virtual addresses up (vrrp-track-file), and go on. leveectl keepalived resign sends it.")
	}
	p.heading("EXIT STATUS")
	p.item("0", "", "It was stopped in order.")
	p.item("78", "", "An option is wrong; a line on the standard error names it. A restart would not help.")
	p.item("1", "", "Anything else.")
	if d.systemd != "" {
		p.heading("SYSTEMD")
		p.paragraphs(d.systemd)
	}
	p.heading("FILES")
	p.item(d.config, "", "The options.")
	if d.name == "levee-limiter" {
		p.item("/etc/levee/storage.yaml", "", "The quotas, unless storage-addrs names another file, or etcd.")
	}
	p.item("/etc/default/"+d.name+", /etc/sysconfig/"+d.name, "",
		"The environment of the service, and whether an upgrade restarts it (Debian and Red Hat systems).")
	p.item("/etc/credstore", "", "Secrets for the service: see systemctl cat "+d.name+".")
	p.item("/var/lib/levee", "", "What is kept over a restart.")
	p.item("/usr/share/levee/examples", "", "Examples, with every part explained.")
	p.heading("EXAMPLES")
	p.code(d.name + " --config " + d.config + " --check-config\n" + d.name + " --config " + d.config)
	p.see(append(d.see, toolRef, optionsRef, storageRef)...)
	return p
}
