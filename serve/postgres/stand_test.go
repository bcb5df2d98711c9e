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
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/postgres"
)

// A stand is a server over the demo's data, with the accounts of gatewaytest.
type stand struct{ host, port string }

const password = "correct horse battery"

// start opens a stand that is closed when the test ends.
func start(t testing.TB, change func(*postgres.Options)) stand {
	t.Helper()
	o := postgres.Options{Gateway: gatewaytest.New(t), Accounts: accounts{}, Now: time.Now}
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
	return stand{host, port}
}

// address is a connection string of the analyst's, with more parameters.
func (s stand) address(more ...string) string {
	return fmt.Sprintf("host=%s port=%s user=anna password='%s' dbname=discreet %s", s.host, s.port, password, strings.Join(more, " "))
}

// psql runs psql and returns what it prints.
func (s stand) psql(t testing.TB, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("skip: missing tool: psql (Debian: apt-get install postgresql-client)")
	}
	c := exec.CommandContext(t.Context(), program, append([]string{"-X", s.address()}, args...)...)
	c.Env = append(os.Environ(), "PAGER=", "PGOPTIONS=", "LC_ALL=C.UTF-8", "HOME="+filepath.Dir(t.TempDir()))
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out)
}

// accounts are those of gatewaytest, all with one password.
type accounts struct{}

func (accounts) Scram(_ context.Context, name, _ string, binding *scram.ChannelBinding) (postgres.Conversation, error) {
	known := password
	if name != gatewaytest.Analyst.Name && name != gatewaytest.Owner.Name {
		known = "nobody's"
	}
	c, err := scram.SHA256.NewClient("", known, "")
	if err != nil {
		return nil, err
	}
	stored, err := c.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "sixteen bytes of", Iters: 4096})
	if err != nil {
		return nil, err
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return stored, nil })
	if err != nil {
		return nil, err
	}
	if binding != nil {
		return conversation{server.NewConversationWithChannelBinding(*binding), name}, nil
	}
	return conversation{server.NewConversation(), name}, nil
}

type conversation struct {
	*scram.ServerConversation
	name string
}

func (c conversation) Account() (people.Account, error) {
	switch {
	case !c.Valid():
	case c.name == gatewaytest.Analyst.Name:
		return gatewaytest.Analyst, nil
	case c.name == gatewaytest.Owner.Name:
		return gatewaytest.Owner, nil
	}
	return people.Account{}, errors.New("wrong password")
}
