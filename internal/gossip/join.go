package gossip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-multierror"
)

// SetSeeds says which observers there are, by their addresses in the overlay:
// those that Run joins. It replaces those said before.
func (n *Node) SetSeeds(addrs []netip.AddrPort) {
	seeds := make([]netip.AddrPort, len(addrs))
	for i, a := range addrs {
		seeds[i] = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	}
	n.mu.Lock()
	n.seeds, n.seeded = seeds, true
	n.mu.Unlock()
	wake(n.reseeded)
}

// Joined returns a channel that is closed once this member knows the others: it
// has exchanged all it knows with one of them, or nobody has answered for a few
// seconds after the first SetSeeds. Run goes on trying then.
func (n *Node) Joined() <-chan struct{} { return n.joined }

func (n *Node) setJoined() { n.joining.Do(func() { close(n.joined) }) }

// keepJoining looks after the seeds.
func (n *Node) keepJoining(ctx context.Context) {
	retry := time.NewTimer(0)
	defer retry.Stop()
	var alone *time.Timer // once there are seeds
	var settled time.Time
	failures := map[netip.AddrPort]string{}
	for {
		select {
		case <-n.hearsay:
			if n.exchanged.Load() {
				continue
			}
		case <-n.reseeded:
		case <-retry.C:
		case <-ctx.Done():
			if alone != nil {
				alone.Stop()
			}
			return
		}
		seeds, seeded := n.others()
		if seeded && alone == nil {
			alone = n.goOnWithout(seeds)
			settled = time.Now().Add(settling)
		}
		failures = n.join(ctx, seeds, time.Now().Before(settled), failures)
		retry.Reset(rejoinInterval*3/4 + rand.N(rejoinInterval/2)) //nolint:gosec // jitter is no secret
	}
}

// others returns the seeds but this node itself.
func (n *Node) others() (seeds []netip.AddrPort, seeded bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(n.seeds), func(a netip.AddrPort) bool { return a == n.addr }), n.seeded
}

// goOnWithout counts this member as joined when nobody answers in time.
func (n *Node) goOnWithout(seeds []netip.AddrPort) *time.Timer {
	wait := patience
	if len(seeds) == 0 {
		wait = patienceAlone
	}
	return time.AfterFunc(wait, func() {
		select {
		case <-n.joined:
			return
		default:
		}
		if len(seeds) > 0 {
			n.log.Warn("no observer has answered yet, going on without", "gossip", fmt.Sprint(seeds))
		} else {
			n.log.Info("there is no other observer to join, going on alone")
		}
		n.setJoined()
	})
}

// join joins the seeds that do not answer as members, all at once, and logs what
// is new about them: failures are those of last time.
func (n *Node) join(ctx context.Context, seeds []netip.AddrPort, settling bool, failures map[netip.AddrPort]string) map[netip.AddrPort]string {
	known := n.knownAt()
	again := -1 // one that is asked for all it knows, though it answers
	if settling && len(seeds) > 0 {
		again = rand.N(len(seeds)) //nolint:gosec // any will do
	}
	errs := make([]error, len(seeds))
	var all sync.WaitGroup
	for i, seed := range seeds {
		all.Go(func() {
			if i == again || !n.answers(seed, known[seed]) {
				errs[i] = n.exchange(seed)
			}
		})
	}
	if !n.exchanged.Load() {
		// Some are known by hearsay. One of them knows the rest.
		for addr := range known {
			if addr != n.addr && !slices.Contains(seeds, addr) {
				all.Go(func() { _ = n.exchange(addr) }) // if it cannot be, the next round tries another
				break
			}
		}
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil
	}
	now := map[netip.AddrPort]string{}
	for i, seed := range seeds {
		before, failed := failures[seed]
		switch err := errs[i]; {
		case err == nil && failed:
			n.log.Info("an observer is joined again", "gossip", seed.String())
		case err != nil:
			n.metrics.failed.Inc()
			now[seed] = err.Error()
			if now[seed] != before {
				n.log.Warn("cannot join an observer, trying again", "gossip", seed.String(), "err", err)
			}
		}
	}
	return now
}

// knownAt returns the names of the nodes that count as alive, by their addresses;
// of several at one address the last to be started.
func (n *Node) knownAt() map[netip.AddrPort]string {
	n.mu.Lock()
	defer n.mu.Unlock()
	names := map[netip.AddrPort]string{}
	for name, addr := range n.alive {
		// Incarnations are of one length, so they compare as text.
		if incarnationText(name) > incarnationText(names[addr]) {
			names[addr] = name
		}
	}
	return names
}

func incarnationText(name string) string { return name[strings.LastIndexByte(name, '@')+1:] }

// answers says whether a seed answers to the name of the node that is known
// there. When it was started again the old name is known for a while yet, and
// nobody else would tell it who is there.
func (n *Node) answers(seed netip.AddrPort, name string) bool {
	if name == "" {
		return false
	}
	_, err := n.list.Ping(name, net.UDPAddrFromAddrPort(seed))
	return err == nil
}

// exchange joins a member: both tell each other all they know.
func (n *Node) exchange(addr netip.AddrPort) error {
	_, err := n.list.Join([]string{addr.String()})
	if err == nil {
		return nil
	}
	var several *multierror.Error
	if errors.As(err, &several) && len(several.Errors) == 1 {
		err = several.Errors[0] // reads better without the list around it
	}
	// memberlist hands out text only.
	switch text := err.Error(); {
	case strings.Contains(text, "crypt"):
		return fmt.Errorf("%w (gossip-key-file must name the same key on all members)", err)
	case strings.Contains(text, "EOF"):
		return fmt.Errorf("%w (it may be of another cluster: storage-prefix must be the same on all members)", err)
	}
	return err
}
