package inforce

import (
	"context"

	"github.com/levee-project/levee/internal/config"
	"github.com/levee-project/levee/internal/daemon"
	"github.com/levee-project/levee/internal/status"
	"github.com/levee-project/levee/internal/storage"
)

// CheckFiles checks what can be known of the storage options without a
// connection: the options themselves, and the files that they name. An error
// ends a process as a bad configuration does.
func CheckFiles(cfg *config.Storage) error {
	if err := storageOptions(cfg).CheckFiles(); err != nil {
		return config.Unusable(err)
	}
	return nil
}

// Follow follows the shared configuration that cfg names as a component of d,
// and returns when the first one is in force. apply takes each, one at a time;
// board is told what is in force.
func Follow(
	ctx context.Context, d *daemon.Daemon, board *status.Board, cfg *config.Storage, apply func(*Configuration),
) error {
	o := storageOptions(cfg)
	store, err := storage.Open(o, d.Log)
	if err != nil {
		return err
	}
	var cache *storage.Cache
	if path := cfg.CacheFile; path != "" {
		if cache, err = storage.NewCache(path, o, d.Log); err != nil {
			return err
		}
	}
	f := newFollower(d.Log, d.Health, newMetrics(d.Registry), cache, apply)
	f.board = board
	store = storage.WithCache(store, cache, storage.CacheWait, d.Log)
	d.Go("storage", func(ctx context.Context) error { return store.Run(ctx, f.sink()) })
	select {
	case <-f.loaded:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func storageOptions(s *config.Storage) storage.Options {
	return storage.Options{
		Addrs: s.Addrs, Prefix: s.Prefix, Username: s.Username, PasswordFile: s.PasswordFile,
		CAFile: s.CAFile, CertFile: s.CertFile, KeyFile: s.KeyFile,
	}
}
