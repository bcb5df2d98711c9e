//go:build cgo && linux

package siege_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
)

// TestOwnersCommandsKilled kills the owner's commands before each of their system calls while
// a server runs. Each was done, or was not, and nothing between: an account that is listed can
// sign in by its password, one of two passwords is right, a grant is of one statement, a version
// is there or not. Given again, the command is done. The chain stays whole, and the server
// answers by what holds. CI takes a share of the calls, DISCREET_SOAK all that differ from
// the one before.
func TestOwnersCommandsKilled(t *testing.T) {
	s := newStand(t, "3000", "anna")
	v := s.serve(t)
	count, address, asked := 0, 0, 100_000
	signsIn := func(name, password string) (ok bool) {
		s.withAccounts(t, func(a *people.Accounts) error {
			address++ // failures slow an address down
			_, err := a.SignIn(t.Context(), name, password, fmt.Sprintf("192.0.2.%d", address%250))
			if ok = err == nil; ok || errors.Is(err, people.ErrSignIn) {
				return nil
			}
			return err
		})
		return ok
	}
	listed := func(name string) (found *people.Listed) {
		s.withAccounts(t, func(a *people.Accounts) error {
			all, err := a.List(t.Context())
			for i := range all {
				if all[i].Name == name {
					found = &all[i]
				}
			}
			return err
		})
		return found
	}
	added := func(i int, what string) string {
		name := fmt.Sprintf("%s%d", what, i)
		s.withAccounts(t, func(a *people.Accounts) (err error) {
			if err := a.Add(t.Context(), "olga", name, people.Analyst, "the old one"); err != nil {
				return err
			}
			s.tokens[name], err = a.AddToken(t.Context(), "olga", name, "test", time.Now().Add(time.Hour))
			return err
		})
		return name
	}
	asks := func(name, sql string) (answer, error) {
		w := &web{at: "http://" + v.HTTP, token: s.tokens[name]}
		defer w.CloseIdleConnections()
		return w.ask(t.Context(), sql, amount)
	}

	// Each makes what the i-th command is about. It returns the command, its input, and what
	// says whether it was done, and holds whenever it was killed.
	acts := map[string]func(i int) (args []string, input string, done func() bool){
		"add": func(i int) ([]string, string, func() bool) {
			name := fmt.Sprint("added", i)
			return []string{"user", "add", name, "--role", "analyst", "--password-stdin"}, "the new one\n", func() bool {
				there := listed(name) != nil
				if ok := signsIn(name, "the new one"); ok != there {
					t.Errorf("%s is listed: %v, and signs in: %v", name, there, ok)
				}
				return there
			}
		},
		"rotate": func(i int) ([]string, string, func() bool) {
			name := added(i, "rotated")
			return []string{"user", "rotate", name, "--password-stdin"}, "the new one\n", func() bool {
				old, new := signsIn(name, "the old one"), signsIn(name, "the new one")
				if old == new {
					t.Errorf("%s signs in with both passwords, or with neither: %v", name, old)
				}
				return new
			}
		},
		"token": func(i int) ([]string, string, func() bool) {
			name := added(i, "tokened")
			return []string{"user", "token", name, "--label", "second"}, "", func() bool { return len(listed(name).Tokens) > 1 }
		},
		"disable": func(i int) ([]string, string, func() bool) {
			name := added(i, "disabled")
			return []string{"user", "disable", name}, "", func() bool {
				disabled := listed(name).Disabled
				if ok := signsIn(name, "the old one"); ok == disabled {
					t.Errorf("%s is disabled: %v, and signs in: %v", name, disabled, ok)
				}
				if _, err := asks(name, "SELECT name FROM labels"); (err == nil) == disabled {
					t.Errorf("%s is disabled: %v, and the server says %v", name, disabled, err)
				}
				return disabled
			}
		},
		"quota": func(i int) ([]string, string, func() bool) {
			name := added(i, "bounded")
			return []string{"user", "quota", name, "--rho", "0.0005"}, "", func() bool {
				quotas := listed(name).Quotas
				asked++ // a repetition would cost no quota
				_, err := asks(name, small(asked))
				if _, bounded := quotas[domain]; bounded != (reasonOf(err) == "quota") {
					t.Errorf("%s has quotas %v, and the server says %v", name, quotas, err)
				}
				return len(quotas) > 0
			}
		},
		"grant": func(i int) ([]string, string, func() bool) {
			name := added(i, "granted")
			s.withAccounts(t, func(a *people.Accounts) error {
				return a.Limit(t.Context(), "olga", name, domain, &ledger.Allowance{Amounts: filter.Amounts{Rho: rho(t, "0.0001")}})
			})
			_, err := asks(name, small(i))
			id := approval(t, err)
			return []string{"approval", "grant", id}, "", func() bool {
				_, err := asks(name, small(i))
				if err != nil && approval(t, err) != id {
					t.Errorf("%s asks again, and waits for another approval: %v", name, err)
				}
				if n := len(s.books(t).of(name, small(i))); err == nil && n != 1 || err != nil && n != 0 {
					t.Errorf("%s was charged %d times: %v", name, n, err)
				}
				return err == nil
			}
		},
		"version": func(i int) ([]string, string, func() bool) {
			sql := small(1000 + i)
			if _, err := asks("anna", sql); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprint("version ", i)
			return []string{"ledger", "version", name}, "", func() bool {
				there := slices.ContainsFunc(s.books(t).entries, func(e ledger.Entry) bool { return e.Kind == "version" && e.Note == name })
				if a, err := asks("anna", sql); err != nil || a.reused == there && len(s.books(t).of("anna", sql)) < 2 {
					t.Errorf("the version is there: %v, and the answer comes again: %v %v", there, a.reused, err)
				}
				return there
			}
		},
	}
	did := map[string]int{}
	for name, act := range acts {
		args, input, done := act(count)
		seen, out, ok := s.watched(t, instant{}, input, args)
		if !ok || !done() {
			t.Fatalf("%s: not done: %s", name, out)
		}
		for i, at := range instants(seen) {
			edge := i > 0 && seen[i-1] != at.call
			writes := strings.HasPrefix(string(at.call), "write") || strings.HasPrefix(string(at.call), "sync")
			if !edge || !soak() && (!writes || i%4 != 0) {
				continue
			}
			count++
			args, input, done := act(count)
			_, out, ok := s.watched(t, at, input, args)
			was := done()
			if ok && !was {
				t.Errorf("%s, %v: it says that it is done: %s", name, at, out)
			}
			did[fmt.Sprintf("%s: %v", name, was)]++
			_, out, ok = s.watched(t, instant{}, input, args)
			if !done() || !ok && !was {
				t.Errorf("%s, %v: given again: %s", name, at, out)
			}
		}
	}
	t.Logf("%d kills: %v", count, did)
	if _, err := asks("anna", small(0)); err != nil {
		t.Errorf("the server: %v", err)
	}
	v.kill()
	s.books(t)
}

func reasonOf(err error) string {
	if err == nil {
		return ""
	}
	return reason(err)
}

// approval is the number of what waits for an owner.
func approval(t *testing.T, err error) string {
	t.Helper()
	var r *refusal
	var in struct{ Approval json.Number }
	if !errors.As(err, &r) || r.status != http.StatusAccepted || json.Unmarshal([]byte(r.text), &in) != nil || in.Approval == "" {
		t.Fatalf("it does not wait: %v", err)
	}
	return string(in.Approval)
}

// watched runs a command on the stand that is killed at an instant.
func (s *stand) watched(t *testing.T, at instant, input string, args []string) (seen []call, out string, ok bool) {
	t.Helper()
	return watchedIn(t, s.dir, at, input, slices.Concat(args, s.arguments()))
}

// watchedIn runs a command in a folder that is killed at an instant.
func watchedIn(t *testing.T, dir string, at instant, input string, args []string) (seen []call, out string, ok bool) {
	t.Helper()
	var said bytes.Buffer
	c := exec.Command("watch", append([]string{"start", kills, string(at.call), fmt.Sprint(at.n), "discreet"}, args...)...)
	c.Dir, c.Stdin, c.Stderr = dir, strings.NewReader(input), &said
	report, err := c.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(report)), "\n") {
		if line != "ready" {
			seen = append(seen, call(line))
		}
	}
	return seen, said.String(), err == nil
}
