//go:build cgo

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/postgres"
)

// A stand is a server over the demo's data, with the accounts of gatewaytest.
type stand struct {
	gatewaytest.World
	host, port string
}

// start opens a stand that is closed when the test ends. parts may give its gateway others.
func start(t testing.TB, change func(*postgres.Options), parts ...func(*gateway.Config)) stand {
	t.Helper()
	w := gatewaytest.Open(t, t.TempDir(), parts...)
	o := postgres.Options{Gateway: w.Gateway, Accounts: accounts{w.People}, Now: time.Now}
	if change != nil {
		change(&o)
	}
	server, err := postgres.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return stand{w, host, port}
}

// address is a connection string of the analyst's, with more parameters.
func (s stand) address(more ...string) string {
	return fmt.Sprintf("host=%s port=%s user=anna password='%s' dbname=discreet %s", s.host, s.port, gatewaytest.Password, strings.Join(more, " "))
}

// psql runs psql and returns what it prints.
func (s stand) psql(t testing.TB, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("skip: missing tool: psql (Debian: apt-get install postgresql-client)")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, append([]string{"-X", s.address()}, args...)...)
	c.Env = append(os.Environ(), "PAGER=", "PGOPTIONS=", "LC_ALL=C.UTF-8", "HOME="+filepath.Dir(t.TempDir()))
	c.WaitDelay = time.Second
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

// accounts are people's, behind the door's interface.
type accounts struct{ *people.Accounts }

func (a accounts) Scram(ctx context.Context, name, address string, binding *scram.ChannelBinding) (postgres.Conversation, error) {
	c, err := a.Accounts.Scram(ctx, name, address, binding)
	if err != nil {
		return nil, err
	}
	return c, nil
}
