//go:build cgo && linux

package siege_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// TestRespondentKilled kills a respondent's discreet local answer before each of its system calls,
// of a question that is asked once and of one that is asked again. What was told is charged, and
// stands in the ledger with its asker; nothing is charged twice; asked again, the answer is the one
// that was told, and is told once. (A report has 300 random bits: no two are equal by chance.) CI
// takes a share of the calls that write, DISCREET_SOAK all that differ from the one before.
func TestRespondentKilled(t *testing.T) {
	dir := t.TempDir()
	path, anchor := filepath.Join(dir, "me.ledger"), filepath.Join(dir, "me.anchor")
	epsilon := func(text string) privacy.Epsilon {
		e, err := privacy.ParseEpsilon(text)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	made, err := ledger.Create(t.Context(), path, ledger.Options{Anchor: anchor, Now: time.Now(), Domains: []ledger.DomainBudget{{ID: "me",
		Neighbours: privacy.ReplaceOne, Measure: filter.Pure, Epsilon: epsilon("10000")}}})
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	// booked returns what was charged for a question, how often it was charged, and how often told.
	booked := func(question string) (spent float64, charged, told int) {
		l, err := ledger.Open(t.Context(), path, ledger.Options{Anchor: anchor})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Verify(t.Context()); err != nil {
			t.Fatalf("the ledger is not whole: %v", err)
		}
		all, err := l.History(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			switch {
			case e.Kind != "reserve" || !strings.Contains(e.Statement, question):
			case e.Charge.Epsilon.Sign() > 0:
				spent, charged = spent+e.Charge.Epsilon.Float64(), charged+1
			case e.Analyst == "survey":
				told++
			}
		}
		return spent, charged, told
	}
	// report is what was printed: a whole line of JSON.
	report := func(out string) (r string) {
		for _, line := range strings.SplitAfter(out, "\n") {
			var said struct{ Report string }
			if json.Unmarshal([]byte(line), &said) == nil && said.Report != "" && strings.HasSuffix(line, "\n") {
				r = said.Report
			}
		}
		return r
	}
	count, did := 0, map[string]int{}
	for kind, flags := range map[string][]string{"once": {"oue"}, "again": {"l-oue", "--epochs", "3", "--epoch", "1"}} {
		costs := map[string]float64{"once": 1, "again": 3}[kind]
		ask := func(i int) (question string, args []string) {
			question = fmt.Sprintf("question %d?", i)
			return question, append(append([]string{"local", "answer"}, flags...), "--epsilon", "1", "--categories", "300", "--question", question,
				"--asker", "survey", "--domain", "me", "--ledger", path, "--anchor", anchor, "--json")
		}
		_, args := ask(count)
		seen, out, ok := watchedIn(t, dir, instant{}, "7\n", args)
		if !ok || report(out) == "" {
			if strings.Contains(out, "traced") {
				t.Skipf("skip: no process may be traced here: %s", out)
			}
			t.Fatalf("%s: not answered: %s", kind, out)
		}
		for i, at := range instants(seen) {
			edge := i > 0 && seen[i-1] != at.call
			writes := strings.HasPrefix(string(at.call), "write") || strings.HasPrefix(string(at.call), "sync")
			if !edge || !soak() && (!writes || i%3 != 0) {
				continue
			}
			count++
			question, args := ask(count)
			_, out, _ := watchedIn(t, dir, at, "7\n", args)
			first := report(out)
			_, charged, told := booked(question)
			if charged > 1 || told > 1 || first != "" && (charged != 1 || told != 1) {
				t.Errorf("%s, %v: it told %q, was charged %d times and told %d times", kind, at, first, charged, told)
			}
			did[fmt.Sprintf("%s: charged %d, told %d, printed %v", kind, charged, told, first != "")]++
			_, out, ok := watchedIn(t, dir, instant{}, "9\n", args) // another value: it does not count any more
			second := report(out)
			if !ok || second == "" || first != "" && second != first {
				t.Errorf("%s, %v: asked again it tells %q, after %q: %s", kind, at, second, first, out)
			}
			if spent, charged, told := booked(question); charged != 1 || told != 1 || spent > costs || spent < costs-1e-9 {
				t.Errorf("%s, %v: asked twice, it was charged %d times, epsilon %v, and told %d times", kind, at, charged, spent, told)
			}
		}
	}
	t.Logf("%d kills: %v", count, did)
	if count < 10 {
		t.Errorf("%d kills alone", count)
	}
}
