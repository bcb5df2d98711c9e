package worker

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/identity"
	"github.com/discreet-dp/discreet/sandbox"
	calls "github.com/discreet-dp/discreet/sandbox/worker"
)

// A Crew is what the flags of discreet map say of other machines.
type Crew struct {
	members  []calls.Member
	identity string
}

// Define defines the flags.
func (c *Crew) Define(fs *flag.FlagSet) {
	fs.Func("worker", "have a discreet worker make calls: `HOST:PORT=KEY`, again for each", func(text string) error {
		address, key, _ := strings.Cut(text, "=")
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" || !identity.Digest.MatchString(key) {
			return errors.New("want where it listens and the 64 digits of its key, as 10.0.0.7:7440=5f0c...e1")
		}
		m := calls.Member{Address: address, Key: key}
		if slices.ContainsFunc(c.members, func(o calls.Member) bool { return o.Address == address }) {
			return errors.New("one worker is named twice")
		}
		c.members = append(c.members, m)
		return nil
	})
	fs.StringVar(&c.identity, "identity", "", "with --worker: the `FILE` with the private key that workers know you by")
}

// Gather sends the module to the workers, if there are any: before anything is charged.
func (c *Crew) Gather(ctx context.Context, mapper *sandbox.Mapper, job calls.Job, log *slog.Logger) (*calls.Crew, error) {
	switch {
	case len(c.members) == 0 && c.identity != "":
		return nil, diagnostic.New("D115", diagnostic.Span{}, "--identity is for workers, and none is named").Try("name each: --worker HOST:PORT=KEY")
	case len(c.members) == 0:
		return nil, nil
	case c.identity == "":
		return nil, diagnostic.New("D113", diagnostic.Span{}, "--worker needs --identity").Try("discreet multiparty key NAME makes a key, whose digest each worker is told of: --identity NAME.pem")
	}
	pair, _, err := identity.Read(c.identity)
	if err != nil {
		return nil, unusable(c.identity, err)
	}
	gathered, err := calls.Gather(ctx, mapper, job, calls.Options{Members: c.members, Identity: pair, Log: log})
	var u *calls.Unready
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &u):
		return nil, diagnostic.New("D147", diagnostic.Span{}, "the worker %s cannot be used: %s", u.Address, unready(u.Err)).Because("nothing was charged").
			Try("look whether discreet worker runs there, has the key that is named, and knows yours (--caller)")
	}
	return gathered, err
}

// unready says what is wrong with a worker, without the words of sockets.
func unready(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, identity.ErrStranger):
		return "it has another key"
	case errors.Is(err, context.DeadlineExceeded):
		return "it does not answer"
	case errors.As(err, &op) && op.Op == "dial":
		return "nothing answers there"
	case errors.As(err, &op):
		return "it does not speak to you"
	}
	return diagnostic.Cause(err)
}
