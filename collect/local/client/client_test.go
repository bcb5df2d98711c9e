package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/collect/local/client"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// over returns a client over a ledger.
func over(t *testing.T, l *ledger.Ledger) *client.Client {
	t.Helper()
	book := func(asker string) (client.Book, error) {
		return durable.New(t.Context(), l, durable.Options{Domain: "me", Analyst: asker, Now: time.Now})
	}
	return must(client.New(client.Options{Answers: must(book("client")), Tellings: book, Bits: noise.System()}))
}

func ledgerFor(t *testing.T, epsilon string) (string, *ledger.Ledger) {
	path := filepath.Join(t.TempDir(), "me.ledger")
	l := must(ledger.Create(t.Context(), path, ledger.Options{Now: time.Now(), Domains: []ledger.DomainBudget{{ID: "me", Neighbours: privacy.ReplaceOne,
		Measure: filter.Pure, Epsilon: must(privacy.ParseEpsilon(epsilon))}}}))
	t.Cleanup(func() { l.Close() })
	return path, l
}

func question(text string) (client.Question, func(*noise.Stream) (string, error)) {
	f := must(local.NewFrequency(local.FrequencyOptions{Protocol: local.OUE, Values: 500, Epsilon: must(privacy.ParseEpsilon("1"))}))
	return client.Question{Text: text, Form: "oue, epsilon 1, 500 values", Event: f.Event()}, func(s *noise.Stream) (string, error) {
		r, err := f.Randomize(s, 3)
		return f.Format(r), err
	}
}

// The same question has the same answer, whoever asks, also after a restart, and is charged
// once; who was told what is in the ledger. (Reports have 500 random bits: two are never equal.)
func TestAnsweredOnce(t *testing.T) {
	path, l := ledgerFor(t, "10")
	c := over(t, l)
	q, report := question("colour?")
	first := must(c.Answer(t.Context(), "alice", q, report))
	second := must(c.Answer(t.Context(), "bob", q, report))
	if first.Again || !second.Again || first.Report != second.Report || first.Report == "" {
		t.Errorf("%+v, %+v", first, second)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = must(ledger.Open(t.Context(), path, ledger.Options{}))
	defer l.Close()
	c = over(t, l)
	if third := must(c.Answer(t.Context(), "alice", q, report)); third.Report != first.Report {
		t.Errorf("after a restart: %+v", third)
	}
	other, reportOther := question("size?")
	if a := must(c.Answer(t.Context(), "alice", other, reportOther)); a.Again || a.Report == first.Report {
		t.Errorf("another question: %+v", a)
	}
	if spent := must(l.Balance(t.Context(), "me")).Spent.Epsilon.Float64(); spent > 2 || spent < 1.999 {
		t.Errorf("two questions cost %v", spent)
	}
	var told []string
	for _, e := range must(l.History(t.Context())) {
		if strings.HasPrefix(e.Statement, "told: ") {
			told = append(told, e.Analyst+" "+strings.Fields(e.Statement)[1])
		}
	}
	if got := strings.Join(told, ", "); got != "alice colour?, bob colour?, alice size?" {
		t.Errorf("told: %s", got)
	}
}

// Fifty questions at once against a budget for ten get ten answers; fifty askers of one question
// get one.
func TestBudgetHoldsInParallel(t *testing.T) {
	_, l := ledgerFor(t, "10")
	c := over(t, l)
	ask := func(text func(i int) string) (answers map[string]int, refused int) {
		answers = map[string]int{}
		var wait sync.WaitGroup
		var lock sync.Mutex
		for i := range 50 {
			wait.Go(func() {
				q, report := question(text(i))
				a, err := c.Answer(context.Background(), fmt.Sprintf("asker %d", i), q, report)
				lock.Lock()
				defer lock.Unlock()
				switch {
				case err == nil:
					answers[a.Report]++
				case errors.Is(err, ledger.ErrExhausted):
					refused++
				default:
					t.Error(err)
				}
			})
		}
		wait.Wait()
		return answers, refused
	}
	if answers, refused := ask(func(int) string { return "the same?" }); len(answers) != 1 || refused != 0 {
		t.Errorf("one question: %d answers, %d refused", len(answers), refused)
	}
	if answers, refused := ask(func(i int) string { return fmt.Sprint("question ", i) }); len(answers) != 9 || refused != 41 {
		t.Errorf("fifty questions for what nine cost: %d answers, %d refused", len(answers), refused)
	}
}

// A book that fails lets nothing out.
func TestFailuresTellNothing(t *testing.T) {
	_, l := ledgerFor(t, "10")
	c := over(t, l)
	q, report := question("colour?")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err := c.Answer(t.Context(), "alice", q, report); err == nil || a != nil {
		t.Errorf("a closed ledger answers %+v", a)
	}
	for _, bad := range []client.Question{{}, {Text: "x"}, {Text: "x", Form: "y"}} {
		if _, err := c.Answer(t.Context(), "alice", bad, report); err == nil {
			t.Errorf("%+v is answered", bad)
		}
	}
	if _, err := client.New(client.Options{}); err == nil {
		t.Error("a client without a book")
	}
}

// A question that is asked in each of several epochs is charged for all with its first answer. Each
// epoch has one memo, whoever asks, in whatever order, after a restart and after a crash between
// its draw and its telling; an asker is told the same throughout an epoch.
func TestRepeat(t *testing.T) {
	path, l := ledgerFor(t, "3")
	r := must(local.NewRepeated(local.RepeatedOptions{Protocol: local.DBitFlip, Values: 400, Epsilon: must(privacy.ParseEpsilon("1")), Epochs: 3}))
	q := client.Question{Text: "colour?", Form: "dbitflip, epsilon 1, 400 values, 3 epochs", Event: r.Event()}
	crash := errors.New("a crash")
	drawn := 0
	repetition := func(crashes bool) client.Repetition {
		return client.Repetition{
			Begin: func(s *noise.Stream) ([]byte, error) { return json.Marshal(must(r.Begin(s))) },
			Memoise: func(s *noise.Stream, begun []byte) ([]byte, error) {
				drawn++
				var m local.Memo
				if err := json.Unmarshal(begun, &m); err != nil {
					return nil, err
				}
				must(r.Report(s, &m, 0, 3))
				return json.Marshal(m)
			},
			Tell: func(s *noise.Stream, memo []byte) (string, error) {
				if crashes {
					return "", crash
				}
				var m local.Memo
				if err := json.Unmarshal(memo, &m); err != nil {
					return "", err
				}
				return r.Format(must(r.Report(s, &m, m.Epoch, 0))), nil
			},
		}
	}
	c := over(t, l)
	if _, err := c.Repeat(t.Context(), "alice", q, 2, repetition(true)); !errors.Is(err, crash) {
		t.Fatal(err)
	}
	first := must(c.Repeat(t.Context(), "alice", q, 2, repetition(false)))
	if !first.Again || drawn != 1 {
		t.Errorf("after a crash it was drawn %d times, and charged again: %v", drawn, !first.Again)
	}
	other := must(c.Repeat(t.Context(), "bob", q, 0, repetition(false)))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = must(ledger.Open(t.Context(), path, ledger.Options{}))
	defer l.Close()
	c = over(t, l)
	for _, asker := range []string{"alice", "bob", "carol"} {
		if a := must(c.Repeat(t.Context(), asker, q, 2, repetition(false))); a.Report != first.Report {
			t.Errorf("%s is told another answer of the epoch", asker)
		}
	}
	if drawn != 2 || other.Report == first.Report {
		t.Errorf("two epochs: %d draws, of which both are %v", drawn, other.Report == first.Report)
	}
	if b := must(l.Balance(t.Context(), "me")); b.Spent.Epsilon.Float64() < 2.999 || b.Spent.Epsilon.Float64() > 3 {
		t.Errorf("three epochs cost %v", b.Spent.Epsilon)
	}
	q.Text = "size?"
	before := drawn
	if _, err := c.Repeat(t.Context(), "alice", q, 0, repetition(false)); !errors.Is(err, ledger.ErrExhausted) || drawn != before {
		t.Errorf("a question beyond the budget: %v, %d draws", err, drawn-before)
	}
}

// Fifty who ask at once for an epoch are told of one memo.
func TestRepeatInParallel(t *testing.T) {
	_, l := ledgerFor(t, "1")
	c := over(t, l)
	q := client.Question{Text: "colour?", Form: "form", Event: privacy.Under{Neighbours: privacy.ReplaceOne, Event: privacy.Pure{Epsilon: must(privacy.ParseEpsilon("1"))}}}
	random := func(s *noise.Stream) ([]byte, error) { return json.Marshal(must(s.Uint64())) }
	answers := map[string]int{}
	var lock sync.Mutex
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			a, err := c.Repeat(context.Background(), fmt.Sprint("asker ", i), q, 0, client.Repetition{
				Begin: random, Memoise: func(s *noise.Stream, _ []byte) ([]byte, error) { return random(s) },
				Tell: func(_ *noise.Stream, memo []byte) (string, error) { return string(memo), nil }})
			lock.Lock()
			defer lock.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			answers[a.Report]++
		})
	}
	wait.Wait()
	if len(answers) != 1 {
		t.Errorf("%d answers", len(answers))
	}
}
