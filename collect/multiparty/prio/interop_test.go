package prio_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/multiparty/prio"
)

// A peer is libprio-rs in a process.
type peer struct {
	*testing.T
	in  io.Writer
	out *bufio.Scanner
}

// newPeer builds and starts interop, once for all runs of this account. It skips where Rust or
// the crate is not to be had, and says so.
func newPeer(t *testing.T) *peer {
	t.Helper()
	cargo, err := exec.LookPath("cargo")
	if err != nil {
		t.Skip("libprio-rs is not compared: there is no cargo")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skipf("libprio-rs is not compared: %v", err)
	}
	target := filepath.Join(cache, "discreet-interop")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := func(args ...string) ([]byte, error) {
		c := exec.CommandContext(ctx, cargo, args...)
		c.Dir, c.Env = "interop", append(os.Environ(), "CARGO_TARGET_DIR="+target)
		return c.CombinedOutput()
	}
	if text, err := run("fetch", "--locked"); err != nil {
		t.Skipf("libprio-rs is not compared: the crate cannot be had: %v\n%s", err, text)
	}
	if text, err := run("build", "--locked", "--offline", "--quiet"); err != nil {
		t.Fatalf("build interop: %v\n%s", err, text)
	}
	c := exec.Command(filepath.Join(target, "debug", "interop"))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<24)
	return &peer{t, in, s}
}

// ask returns the bytes that a line is answered by; nil where it is refused.
func (p *peer) ask(words ...any) (out [][]byte) {
	p.Helper()
	var texts []string
	for _, w := range words {
		switch w := w.(type) {
		case []byte:
			text := hex.EncodeToString(w)
			if text == "" {
				text = "-"
			}
			texts = append(texts, text)
		case []uint64:
			texts = append(texts, strings.Trim(strings.ReplaceAll(fmt.Sprint(w), " ", ","), "[]"))
		default:
			texts = append(texts, fmt.Sprint(w))
		}
	}
	if _, err := fmt.Fprintln(p.in, strings.Join(texts, " ")); err != nil {
		p.Fatal(err)
	}
	if !p.out.Scan() {
		p.Fatalf("libprio-rs has ended: %v", p.out.Err())
	}
	if p.out.Text() == "refused" {
		return nil
	}
	for _, w := range strings.Fields(p.out.Text()) {
		b, err := hex.DecodeString(strings.TrimPrefix(w, "-"))
		if err != nil {
			p.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// libprio-rs 0.17 takes our contributions of all five kinds, and we take its own: its messages
// and ours have the same bytes, each of the two may be either aggregator, and what one refuses
// the other refuses.
func TestInteroperatesWithLibprio(t *testing.T) {
	other := newPeer(t)
	context, secret := []byte("task"), key[:]
	for kind, c := range circuits() {
		p := instance(t, c.Circuit, 2, string(context))
		for i, m := range c.some {
			ours, err := p.Shard(m)
			if err != nil {
				t.Fatal(err)
			}
			nonce := [16]byte{byte(i), 7}
			split := other.ask(kind, context, "shard", nonce[:], m)
			if len(split) != 3 {
				t.Fatalf("%s: libprio-rs does not split %v", kind, m)
			}
			theirs := &prio.Contribution{Nonce: nonce, Public: split[0], Shares: split[1:]}
			for by, one := range map[string]*prio.Contribution{"ours": ours, "theirs": theirs} {
				exchange(t, other, p, kind, context, secret, by, one, m)
			}
			bad := bytes.Clone(ours.Shares[0])
			bad[0] ^= 1
			_, m0, err := p.Prepare(key, 0, ours.Nonce, ours.Public, bad)
			if err != nil {
				continue // joint randomness is checked at once
			}
			_, m1, err := p.Prepare(key, 1, ours.Nonce, ours.Public, ours.Shares[1])
			if err != nil {
				t.Fatal(err)
			}
			if out := other.ask(kind, context, "finish", secret, ours.Nonce[:], 1, ours.Public, ours.Shares[1], m0, m1); out != nil {
				t.Errorf("%s: libprio-rs takes a damaged contribution", kind)
			}
		}
	}
}

// exchange has both libraries take one contribution, each as either aggregator.
func exchange(t *testing.T, other *peer, p *prio.Prio3, kind string, context, secret []byte, by string, c *prio.Contribution, m []uint64) {
	t.Helper()
	states, messages := make([]prio.State, 2), make([][]byte, 2)
	var err error
	for id := range messages {
		if states[id], messages[id], err = p.Prepare(key, id, c.Nonce, c.Public, c.Shares[id]); err != nil {
			t.Fatalf("%s, %s: %v", kind, by, err)
		}
		their := other.ask(kind, context, "init", secret, c.Nonce[:], id, c.Public, c.Shares[id])
		if len(their) != 1 || !bytes.Equal(their[0], messages[id]) {
			t.Fatalf("%s, %s: aggregator %d says %x, libprio-rs %x", kind, by, id, messages[id], their)
		}
	}
	message, err := p.Combine(messages)
	if err != nil {
		t.Fatalf("%s, %s: %v", kind, by, err)
	}
	for id := range messages {
		their := other.ask(kind, context, "finish", secret, c.Nonce[:], id, c.Public, c.Shares[id], messages[0], messages[1])
		if len(their) != 2 || !bytes.Equal(their[0], message) {
			t.Fatalf("%s, %s: the last message is %x, of libprio-rs %x", kind, by, message, their)
		}
		// Their output of one aggregator, and ours of the other, are the contribution.
		ours, err := p.Finish(states[1-id], message)
		if err != nil {
			t.Fatal(err)
		}
		peers, err := p.Field().Read(their[1], p.Values())
		if err != nil {
			t.Fatal(err)
		}
		total, err := p.Field().Unshard([]prio.Vector{ours, peers})
		if err != nil || fmt.Sprint(total) != fmt.Sprint(expected(p.Circuit, [][]uint64{m})) {
			t.Errorf("%s, %s: with libprio-rs as aggregator %d %v adds %v: %v", kind, by, id, m, total, err)
		}
	}
}
