package rank_test

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/rank"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

var wanted = regexp.MustCompile(`want: ([a-z-]+)`)

// A wrong program is never proved; those that rank noisy values, and are right, are.
func TestVerdicts(t *testing.T) {
	packages, err := source.Load(t.Context(), "../../testdata", "./right", "./wrong", "./more", "./lyu", "./fresh", "./hidden", "./panics", "./scaled", "./open")
	if err != nil {
		t.Fatal(err)
	}
	proved := map[string]int{}
	for _, p := range packages {
		for _, u := range p.Units {
			if u.Function == nil || u.Claim == nil || u.Claim.Cost == nil {
				continue
			}
			f := replay.Subject(replay.Rank, u.Function, u.Claim)
			o, err := rank.Prove(t.Context(), f, u.Claim)
			want := wanted.FindStringSubmatch(u.Decl.Doc.Text())
			file := filepath.Base(u.Position.Filename)
			switch {
			case want == nil:
				t.Errorf("%s has no want", u.Name)
			case err == nil && want[1] == "refuted":
				t.Errorf("%s is wrong, and proved: %v", u.Name, o.Certificate)
			case err == nil:
				proved[file]++
				if err := rank.Check(t.Context(), f, u.Claim, o.Certificate); err != nil {
					t.Errorf("%s: %v", u.Name, err)
				}
			case file == "ranks.go" && want[1] == "proved":
				t.Errorf("%s: %v", u.Name, err)
			}
		}
	}
	t.Log(proved)
	if proved["ranks.go"] == 0 || proved["choices.go"] == 0 {
		t.Errorf("nothing is proved: %v", proved)
	}
}

// Where the time is over, a proof that would be found is not, soon.
func TestNoTime(t *testing.T) {
	packages, err := source.Load(t.Context(), "../../testdata", "./more", "./fresh")
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	late := 0
	for _, p := range packages {
		for _, u := range p.Units {
			if u.Function == nil || u.Claim == nil || u.Claim.Cost == nil {
				continue
			}
			f := replay.Subject(replay.Rank, u.Function, u.Claim)
			if _, err := rank.Prove(over, f, u.Claim); err != nil && strings.Contains(err.Error(), "the time for the claim is over") {
				late++
			}
		}
	}
	if late == 0 {
		t.Error("no proof looked at the time")
	}
}
