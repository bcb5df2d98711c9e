// Package clustertest starts clusters for tests: the same launcher and real processes, which
// are the test's own binary, and a proxy that cuts and delays connections.
//
// It does not guarantee anything to programs: it is for tests.
package clustertest

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
)

// runRole is the argument that makes the test's binary a role.
const runRole = "run-role-of-cluster"

// Main is a TestMain: it runs the tests, or, where a launcher started the binary, a role.
func Main(m *testing.M, profiles ...cluster.Profile) {
	if len(os.Args) == 3 && os.Args[1] == runRole {
		ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer cancel()
		err := armed(os.Args[2])
		if err == nil {
			err = cluster.Run(ctx, os.Args[2], profiles, time.Now, slog.New(slog.NewJSONHandler(os.Stderr, nil)))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Options starts roles from the test's own binary.
func Options(t testing.TB, profiles ...cluster.Profile) cluster.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return cluster.Options{Profiles: profiles, Command: []string{self, runRole}, Now: time.Now}
}

// Up starts a cluster of the profile, which ends with the test.
func Up(t testing.TB, p cluster.Profile, given cluster.Settings, route func(from, to, address string) (string, error)) *cluster.Cluster {
	t.Helper()
	o := Options(t, p)
	o.Route = route
	dir := filepath.Join(t.TempDir(), "cluster")
	// Registered before the start: a role that is up when another fails ends too.
	t.Cleanup(func() { Down(t, dir, o) })
	c, err := cluster.Up(t.Context(), dir, p.Name, given, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Down ends what a test started.
func Down(t testing.TB, dir string, o cluster.Options) {
	c, err := cluster.Load(dir, o)
	if err != nil {
		t.Log(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.Down(ctx); err != nil {
		t.Error(err)
	}
}

// Member opens the folder of a member.
func Member(t testing.TB, c *cluster.Cluster, name string) *cluster.Station {
	t.Helper()
	s, err := cluster.Open(c.Folder(name), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
