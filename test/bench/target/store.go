package target

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Store is an etcd that clusters share. Each has its own tree in it.
type Store struct {
	proc     *process
	endpoint string
	cpu      int
	clusters int
}

// StartStore starts an etcd on a core, and returns when it serves. What clusters
// have that answers no attempts goes on the same core.
func (s *Site) StartStore(ctx context.Context, cpu int) (*Store, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	dir, err := s.room("etcd")
	if err != nil {
		return nil, err
	}
	clients, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	peers, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	st := &Store{endpoint: "http://" + clients.String(), cpu: cpu}
	peer := "http://" + peers.String()
	st.proc, err = start(exec.Command(s.binary("etcd"), //nolint:noctx // ends by Stop
		"--name=bench", "--data-dir="+filepath.Join(dir, "data"), "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls="+st.endpoint, "--advertise-client-urls="+st.endpoint,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=bench="+peer), cpu)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	if err := st.proc.until(ctx, "etcd is healthy", func() error { return healthy(ctx, st.endpoint+"/health") }); err != nil {
		st.Stop()
		return nil, err
	}
	return st, nil
}

// Stop ends the store and waits until it has ended.
func (st *Store) Stop() { st.proc.stop(stopTime) }

// write writes entries, value by key, below a prefix.
func (st *Store) write(ctx context.Context, prefix string, entries map[string]string) error {
	c, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: []string{st.endpoint}, Logger: zap.NewNop()})
	if err != nil {
		return fmt.Errorf("client of etcd at %s: %w", st.endpoint, err)
	}
	for key, value := range entries {
		if _, err = c.Put(ctx, prefix+key, value); err != nil {
			break
		}
	}
	_ = c.Close() // it says that ctx has ended
	if err != nil {
		return fmt.Errorf("write to etcd at %s: %w", st.endpoint, err)
	}
	return nil
}

// until waits for something of the process to be so, and for no longer than the
// process runs.
func (p *process) until(ctx context.Context, what string, test func() error) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := test()
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-p.exited:
			return fmt.Errorf("wait until %s: the process has ended\n%s", what, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w: %w\n%s", what, context.Cause(ctx), err, p.tail())
		}
	}
}

// healthy asks a URL, and returns an error unless the answer is 200.
func healthy(ctx context.Context, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(url + " answers " + answer.Status)
	}
	return nil
}
