package dev

import (
	"context"
	"fmt"
	"maps"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/levee-project/levee/internal/topology"
)

// root is the default of storage-prefix.
const root = "/levee/"

// requestTime bounds a request to etcd.
const requestTime = 10 * time.Second

// quotas are what an empty cluster starts with: those of configs/storage.yaml
// that the documents talk about. Two limiters share each.
var quotas = map[string]string{
	"factor/default":                       `2`,
	"limit/key_default":                    `{"rate": 110, "burst": 11}`,
	"limit/subkey_default/DELETE":          `{"rate": 5.5, "burst": 0.55}`,
	"limit/key/demo/quota":                 `{"rate": 1, "burst": 4}`,
	"limit/key/photos/quota":               `{"rate": 55, "burst": 5.5}`,
	"limit/key/photos/sublimit/albums/GET": `{"rate": 11, "burst": 1.1}`,
	"limit/key/photos/sublimit/POST":       `{"rate": 2, "burst": 1}`,
}

// seed writes the observers, and the quotas unless there is something already.
func (p *plan) seed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	c, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: []string{p.endpoint()}, Logger: zap.NewNop()})
	if err == nil {
		err = p.write(ctx, c)
		_ = c.Close() // it says that ctx has ended
	}
	if err != nil {
		return fmt.Errorf("write to etcd at %s: %w", p.endpoint(), err)
	}
	return nil
}

func (p *plan) write(ctx context.Context, c *clientv3.Client) error {
	found, err := c.Get(ctx, root, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	// The observers of a run with more of them, or on other ports, are gone.
	if _, err := c.Delete(ctx, root+"observer/", clientv3.WithPrefix()); err != nil {
		return err
	}
	entries := p.observerEntries()
	if found.Count == 0 {
		maps.Copy(entries, quotas)
	}
	for key, value := range entries {
		if _, err := c.Put(ctx, root+key, value); err != nil {
			return err
		}
	}
	return nil
}

// observerEntries are the observers in the shared configuration.
func (p *plan) observerEntries() map[string]string {
	entries := map[string]string{}
	for _, o := range p.observers {
		entries[topology.ObserverKey(o.name)] = fmt.Sprintf(`{"gossip": %q, "service": %q}`, o.addr(gossip), o.addr(service))
	}
	return entries
}
