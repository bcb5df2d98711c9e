// Package worker is the command discreet worker, which makes the calls of discreet map on another
// machine, and what discreet map says to it.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/identity"
	calls "github.com/discreet-dp/discreet/sandbox/worker"
)

// Command is discreet worker.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "worker --identity FILE --caller KEY [flags]",
		For:       command.Owner,
		Short:     "run modules for discreet map on another machine",
		Long: `A worker runs the module of a discreet map that names it with --worker, over records that
are sent to it, and sends back what the module makes. It keeps none of them, and needs
neither catalog nor database. Whoever runs it sees these records: it is the owner's.

It has a key of its own, and is spoken to by those alone whose keys it was told of, over
TLS. discreet multiparty key NAME makes a key, and prints what others know it by.`,
		Examples: [2]string{
			"discreet worker --identity worker-1.pem --caller 5f0c3b1e9a7d24688c1b0f3e5d7a9264810cfb2e4d6a8c9173b5e0f2a4c6d8e1",
			"discreet worker --identity worker-1.pem --caller 5f0c3b1e9a7d24688c1b0f3e5d7a9264810cfb2e4d6a8c9173b5e0f2a4c6d8e1 --listen 10.0.0.7:7440",
		},
	}
	var file, listen, ready string
	var callers []string
	c.Flags.StringVar(&file, "identity", "", "the `FILE` with the worker's private key")
	c.Flags.Func("caller", "who may send it work: the `KEY` that is known of one, again for each", func(text string) error {
		if !identity.Digest.MatchString(text) {
			return errors.New("want the 64 digits that discreet multiparty key prints")
		}
		callers = append(callers, text)
		return nil
	})
	c.Flags.StringVar(&listen, "listen", "127.0.0.1:7440", "listen at `ADDRESS` (default 127.0.0.1:7440)")
	c.Flags.StringVar(&ready, "ready-file", "", "write where it listens to `FILE` when it answers")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) (err error) {
		if err := command.None(c, args); err != nil {
			return err
		}
		switch {
		case file == "":
			return diagnostic.New("D113", diagnostic.Span{}, "no identity").Try("discreet multiparty key NAME makes one: --identity NAME.pem")
		case len(callers) == 0:
			return diagnostic.New("D113", diagnostic.Span{}, "nobody may send it work").Try("name the key of who runs discreet map: --caller KEY")
		}
		pair, key, err := identity.Read(file)
		if err != nil {
			return unusable(file, err)
		}
		if ready != "" { // one that a crash left names an address that others may have by now
			if err := os.Remove(ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove the last ready file: %w", err)
			}
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
		if err != nil {
			return diagnostic.New("D147", diagnostic.Span{}, "the worker cannot listen at %s: %s", listen, diagnostic.Cause(err)).Try("choose another --listen HOST:PORT")
		}
		log := slog.New(slog.NewJSONHandler(t.Err, nil))
		w := calls.New(log)
		defer func() { err = errors.Join(err, w.Close(context.WithoutCancel(ctx))) }()
		known := func(digest string) bool { return slices.Contains(callers, digest) }
		return identity.Serve(ctx, l, identity.Server(pair, known), w.Handler(), log, func(address string) error {
			log.Info("listening", "address", address, "key", key)
			if ready == "" {
				return nil
			}
			text, err := json.Marshal(map[string]string{"address": address})
			if err != nil {
				return err
			}
			if err := custody.Write(ready+".new", text); err != nil {
				return fmt.Errorf("write ready file: %w", err)
			}
			return os.Rename(ready+".new", ready)
		})
	}
	return c
}

// unusable says that a file holds no identity that can be used.
func unusable(file string, err error) error {
	why := diagnostic.Cause(err)
	if errors.Is(err, fs.ErrNotExist) {
		why = "there is no such file"
	}
	return diagnostic.New("D147", diagnostic.Span{}, "the identity %s cannot be used: %s", file, why).Try("discreet multiparty key NAME makes one")
}
