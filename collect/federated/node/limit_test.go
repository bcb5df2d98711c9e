package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/learn/network"
)

// An asker files as many requests as the limits say, and others theirs; the same request again is no
// other one; a restart counts what is there. What is refused leaves nothing behind.
func TestLimits(t *testing.T) {
	dir, c := declared(t, func(d *Data) { d.Policy.Askers = []string{"coordinator", "second"} })
	c.Limits.Requests = 3
	h := open(t, dir, c)
	ask := func(asker, id string) error {
		_, err := h.Ask(ctx, asker, Request{ID: id, Reason: "beds", Plan: training(2)})
		return err
	}
	for i := range 3 {
		for range 2 {
			if err := ask("coordinator", fmt.Sprint("run-", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := ask("second", "run-0"); err != nil {
		t.Errorf("another asker is refused: %v", err)
	}
	for range 2 {
		if err := ask("coordinator", "run-3"); !errors.Is(err, ErrLimit) {
			t.Errorf("a fourth request of three: %v", err)
		}
		if files, err := filepath.Glob(filepath.Join(dir, "requests", "coordinator.*")); err != nil || len(files) != 3 {
			t.Errorf("%d files, %v", len(files), err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		h = open(t, dir, c)
	}
	if err := ask("coordinator", "run-2"); err != nil {
		t.Errorf("one that is filed: %v", err)
	}
}

// What is released of a run takes no more than the room that was made for it, by any method and
// place; a request that may need more than there is is refused before anything is charged.
func TestRoom(t *testing.T) {
	for _, method := range []federated.Method{federated.FedAvg, federated.FTRL} {
		dir, c := declared(t, func(d *Data) { d.Policy.Auto = epsilon("9") })
		p := training(9)
		p.Privacy.Method, p.Privacy.Noise = method, 9
		p.Network.Layers = []network.Layer{{Type: "linear", Width: 300}, {Type: "linear", Width: 1}}
		weights := len(must(p.Net()).Parameters())
		r := Request{ID: "run-1", Reason: "beds", Plan: p}
		need, err := c.Data[0].room(r)
		if err != nil {
			t.Fatal(err)
		}
		c.Limits.Bytes = need - 1
		h := open(t, dir, c)
		if _, err := h.Ask(ctx, "coordinator", r); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: %v", method, err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		c.Limits.Bytes = need
		h = open(t, dir, c)
		if _, err := h.Ask(ctx, "coordinator", r); err != nil {
			t.Fatal(err)
		}
		for round := range p.Rounds {
			q := first()
			q.Round, q.Weights = round, make([]float32, weights)
			if _, err := h.Round(ctx, "coordinator", "run-1", q); err != nil {
				t.Fatal(err)
			}
		}
		var all int64
		for _, folder := range []string{"requests", "releases"} {
			files, err := filepath.Glob(filepath.Join(dir, folder, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if s, err := os.Lstat(f); err != nil {
					t.Fatal(err)
				} else {
					all += s.Size()
				}
			}
		}
		if all > need || all == 0 {
			t.Errorf("%s: %d bytes, and room for %d", method, all, need)
		}
	}
}
