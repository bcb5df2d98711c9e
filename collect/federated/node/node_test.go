package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

var ctx = context.Background()

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func epsilon(s string) privacy.Epsilon { return must(privacy.ParseEpsilon(s)) }

// declared is a node with a file of patients.
func declared(t *testing.T, change func(*Data)) (string, Config) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var csv strings.Builder
	csv.WriteString("age,ill\n")
	for i := range 40 {
		fmt.Fprintf(&csv, "%d,%v\n", 20+i, i > 20)
	}
	if err := os.WriteFile(filepath.Join(dir, "patients.csv"), []byte(csv.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	d := Data{
		Name: "patients", CSV: "patients.csv", Units: 50, Protects: federated.Person,
		Encoding: &example.Encoding{Columns: []example.Column{{Name: "age", Type: "integer", Lower: 0, Upper: 100}}, Target: &example.Column{Name: "ill", Type: "boolean", Values: []string{"false", "true"}}},
		Budget:   Budget{Measure: filter.ZCDP, Epsilon: epsilon("10"), Delta: must(privacy.ParseDelta("1e-6"))},
		Policy:   Policy{Askers: []string{"coordinator"}, Trusted: []string{"coordinator"}, Apps: []string{"app"}},
	}
	if change != nil {
		change(&d)
	}
	return dir, Config{Data: []Data{d}}
}

func open(t *testing.T, dir string, c Config) *Holder {
	t.Helper()
	b, err := OpenBooks(ctx, dir, c, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	h, err := NewHolder(ctx, "clinic", b, noise.System())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func training(rounds int) *federated.Plan {
	return &federated.Plan{
		Data: "patients", Network: network.Spec{Input: []int{2}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic},
		Unit: federated.Person, Rounds: rounds, Nodes: federated.Nodes{Minimum: 1, Seconds: 5}, Server: optimizer.Spec{Rate: 1},
		Privacy: &federated.Privacy{Method: federated.FedAvg, Place: federated.AtNodes, Clip: 1, Noise: 4, Delta: must(privacy.ParseDelta("1e-6"))},
	}
}

func first() RoundRequest { return RoundRequest{Weights: []float32{0, 0, 0}, Clip: 1} }

func spent(t *testing.T, b *Books) float64 {
	t.Helper()
	balance, err := b.ledger.Balance(ctx, "patients")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := balance.Spent.Rho.Rat().Float64()
	return f
}

// A request waits, is approved, is charged whole, and is answered the same for good.
func TestARequestsLife(t *testing.T) {
	dir, c := declared(t, nil)
	h := open(t, dir, c)
	r := Request{ID: "run-1", Reason: "who is ill", Plan: training(4)}
	s, err := h.Ask(ctx, "coordinator", r)
	if err != nil {
		t.Fatal(err)
	}
	// What an approver sees.
	if s.State != Pending || s.Asker != "coordinator" || s.Reason != "who is ill" || !strings.Contains(s.What, "4 rounds") || s.Epsilon < 1 || s.Epsilon > 3 ||
		s.Charge != "zcdp(0.125)" || s.Left.Rho.Sign() == 0 || s.Trusts != "" {
		t.Errorf("an approver sees %+v", s)
	}
	if _, err := h.Round(ctx, "coordinator", "run-1", first()); !errors.Is(err, ErrWaits) {
		t.Errorf("before it was approved: %v", err)
	}
	if spent(t, h.Books) != 0 {
		t.Error("a request that waits was charged")
	}
	other := r
	other.Plan = training(5)
	if _, err := h.Ask(ctx, "coordinator", other); !errors.Is(err, ErrOther) {
		t.Errorf("another request of the same id: %v", err)
	}
	// The owner decides from another process: other books of the same folder.
	owner := must(OpenBooks(ctx, dir, c, clock))
	defer owner.Close()
	if all := must(owner.Requests(ctx)); len(all) != 1 || all[0].State != Pending {
		t.Errorf("the owner sees %+v", all)
	}
	if s, err = owner.Decide(ctx, "coordinator", "run-1", true, "ada", "for the study"); err != nil || s.State != Approved || s.By != "ada" {
		t.Errorf("approved: %+v, %v", s, err)
	}
	if _, err = owner.Decide(ctx, "coordinator", "run-1", false, "bob", "no"); !errors.Is(err, ErrDecided) {
		t.Errorf("decided again: %v", err)
	}
	u, err := h.Round(ctx, "coordinator", "run-1", first())
	if err != nil {
		t.Fatal(err)
	}
	if got := spent(t, h.Books); got != 0.125 {
		t.Errorf("charged %v, not the whole run", got)
	}
	if s = must(h.Status(ctx, "coordinator", "run-1")); s.State != Released || fmt.Sprint(s.Rounds) != "[0]" {
		t.Errorf("released: %+v", s)
	}
	// The same bytes, also from a process that was started again; no other question.
	want := string(must(json.Marshal(u)))
	again := open(t, dir, c)
	for _, h := range []*Holder{h, again} {
		if got := string(must(json.Marshal(must(h.Round(ctx, "coordinator", "run-1", first()))))); got != want {
			t.Errorf("asked again, the round is %s, not %s", got, want)
		}
		q := first()
		q.Weights = []float32{1, 0, 0}
		if _, err := h.Round(ctx, "coordinator", "run-1", q); !errors.Is(err, ErrAnswered) {
			t.Errorf("the round of other weights: %v", err)
		}
	}
	q := first()
	q.Round = 2 // a round may be left out, and then it is gone
	must(again.Round(ctx, "coordinator", "run-1", q))
	q.Round = 1
	if _, err := again.Round(ctx, "coordinator", "run-1", q); !errors.Is(err, ErrMayNot) {
		t.Errorf("an earlier round: %v", err)
	}
	if got := spent(t, h.Books); got != 0.125 {
		t.Errorf("charged %v after more rounds", got)
	}
	// What is lost is not drawn again.
	if err := os.Remove(h.releaseFile("coordinator", "run-1", 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Round(ctx, "coordinator", "run-1", first()); !errors.Is(err, ErrGone) {
		t.Errorf("a release that is gone: %v", err)
	}
	if err := errors.Join(h.ledger.Verify(ctx), h.Close(), again.Close(), os.Remove(filepath.Join(dir, "discreet.ledger"))); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBooks(ctx, dir, c, clock); !errors.Is(err, ledger.ErrExists) {
		t.Errorf("a node whose ledger is gone: %v", err)
	}
}

func TestPolicies(t *testing.T) {
	dir, c := declared(t, func(d *Data) { d.Policy.Trusted, d.Policy.Auto = nil, epsilon("3") })
	h := open(t, dir, c)
	central, plain, strong := training(4), training(4), training(400)
	central.Privacy.Place = federated.AtCoordinator
	plain.Privacy, plain.Unit, plain.Local.Rate = nil, federated.Node, 1
	for id, c := range map[string]struct {
		plan  *federated.Plan
		state State
		word  string
	}{
		"auto":    {training(4), Approved, "at most epsilon 3"},
		"strong":  {strong, Pending, ""},
		"central": {central, Denied, "not trusted"},
		"plain":   {plain, Denied, "promises nothing"},
	} {
		s, err := h.Ask(ctx, "coordinator", Request{ID: id, Reason: "a test", Plan: c.plan})
		if err != nil || s.State != c.state || !strings.Contains(s.Why, c.word) {
			t.Errorf("%s: %+v, %v", id, s, err)
		}
		if _, err := h.Round(ctx, "coordinator", id, first()); (err == nil) != (c.state == Approved) {
			t.Errorf("%s: a round gives %v", id, err)
		}
	}
	for name, err := range map[string]error{
		"a stranger":      second(h.Ask(ctx, "stranger", Request{ID: "a", Reason: "r", Plan: training(1)})),
		"no reason":       second(h.Ask(ctx, "coordinator", Request{ID: "a", Plan: training(1)})),
		"a path":          second(h.Ask(ctx, "coordinator", Request{ID: "../a", Reason: "r", Plan: training(1)})),
		"other features":  second(h.Ask(ctx, "coordinator", Request{ID: "a", Reason: "r", Plan: &federated.Plan{}})),
		"unknown request": second(h.Status(ctx, "coordinator", "nothing")),
		"a path's status": second(h.Status(ctx, "../coordinator", "auto")),
	} {
		if err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// The asker's delta makes no request look cheaper: the policy and the owner see epsilon at
// the budget's.
func TestTheBudgetsDeltaDecides(t *testing.T) {
	dir, c := declared(t, func(d *Data) { d.Policy.Auto = epsilon("0.5") })
	h := open(t, dir, c)
	loose, strict := training(16), training(16) // a rho of 0.5
	loose.Privacy.Delta, strict.Privacy.Delta = must(privacy.ParseDelta("0.4")), must(privacy.ParseDelta("1e-9"))
	if s, err := h.Ask(ctx, "coordinator", Request{ID: "loose", Reason: "r", Plan: loose}); !errors.Is(err, ErrRequest) {
		t.Errorf("a delta of 0.4 against a budget's of 1e-6: %+v, %v", s, err)
	}
	s := must(h.Ask(ctx, "coordinator", Request{ID: "strict", Reason: "r", Plan: strict}))
	if s.State != Pending || s.Delta.String() != c.Data[0].Budget.Delta.String() || s.Epsilon < 4 || s.Epsilon > 6 {
		t.Errorf("the owner sees %+v", s)
	}
}

// What was decided and paid for a request is not another's of the same id, also where the
// request's file was lost, as by putting back an older copy of the folder.
func TestALostRequestsIDStandsForNoOther(t *testing.T) {
	dir, c := declared(t, nil)
	h := open(t, dir, c)
	cheap := Request{ID: "run", Reason: "r", Plan: training(1)}
	must(h.Ask(ctx, "coordinator", cheap))
	must(h.Decide(ctx, "coordinator", "run", true, "ada", ""))
	must(h.Round(ctx, "coordinator", "run", first()))
	if err := os.Remove(h.requestFile("coordinator", "run")); err != nil {
		t.Fatal(err)
	}
	dear := cheap
	dear.Plan = training(64)
	h = open(t, dir, c)
	if s, err := h.Ask(ctx, "coordinator", dear); !errors.Is(err, ErrOther) {
		t.Errorf("another request of a lost one's id: %+v, %v", s, err)
	}
	if s, err := h.Ask(ctx, "coordinator", cheap); err != nil || s.State != Released {
		t.Errorf("the lost request: %+v, %v", s, err)
	}
	// The file of another request, put where the approved one was.
	a := must(h.asked("coordinator", "run"))
	a.Request = dear
	if err := store(h.requestFile("coordinator", "run"), a); err != nil {
		t.Fatal(err)
	}
	q := first()
	q.Round = 1
	if _, err := open(t, dir, c).Round(ctx, "coordinator", "run", q); !errors.Is(err, ErrOther) {
		t.Errorf("a round of another request: %v", err)
	}
	if got := spent(t, h.Books); got != 1.0/32 {
		t.Errorf("charged %v", got)
	}
}

// A query that was stopped between its charge and its release is not charged again.
func TestAQueryIsChargedOnce(t *testing.T) {
	dir, c := declared(t, func(d *Data) {
		d.Policy.Auto, d.Budget = epsilon("1"), Budget{Measure: filter.Pure, Epsilon: epsilon("1")}
	})
	h := open(t, dir, c)
	must(h.Ask(ctx, "coordinator", Request{ID: "count", Reason: "r", Query: &Query{Data: "patients", Of: "count", Epsilon: epsilon("0.25")}}))
	releases := filepath.Join(dir, "releases")
	if err := os.Remove(releases); err != nil {
		t.Fatal(err)
	}
	charged := func() float64 { return must(h.ledger.Balance(ctx, "patients")).Spent.Epsilon.Float64() }
	for range 3 {
		if a, err := h.Answer(ctx, "coordinator", "count"); err == nil {
			t.Errorf("answered %v, and kept nowhere", a)
		}
		if charged() != 0.25 {
			t.Errorf("charged %v", charged())
		}
	}
	if err := os.Mkdir(releases, 0o700); err != nil {
		t.Fatal(err)
	}
	h = open(t, dir, c)
	if _, err := h.Answer(ctx, "coordinator", "count"); err != nil || charged() != 0.25 {
		t.Errorf("answered at last: charged %v, %v", charged(), err)
	}
}

// Where the register says that other bytes left, these stay.
func TestOtherBytesDoNotLeave(t *testing.T) {
	dir, c := declared(t, nil)
	h := open(t, dir, c)
	must(h.Ask(ctx, "coordinator", Request{ID: "run", Reason: "r", Plan: training(1)}))
	a := must(h.asked("coordinator", "run"))
	must(h.register(ctx, release, a, 0, budget.Release{}, word{Digest: "of others"}))
	if err := h.keep(ctx, a, 0, &released{Question: "q"}); !errors.Is(err, ErrGone) {
		t.Errorf("other bytes: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// Fifty requests at once against a budget for ten: ten are released, and forty refused.
func TestFiftyAgainstABudgetForTen(t *testing.T) {
	one := training(4) // rho 0.125
	dir, c := declared(t, func(d *Data) {
		d.Policy.Auto = epsilon("9")
		d.Budget.Epsilon = epsilon("9.1")
	})
	rho := must(filter.ZCDPRho(c.Data[0].Budget.Epsilon, c.Data[0].Budget.Delta)).Float64()
	if n := int(rho / 0.125); n != 10 {
		t.Fatalf("the budget, a rho of %v, is for %d", rho, n)
	}
	h := open(t, dir, c)
	var released, refused atomic.Int64
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			id := fmt.Sprintf("run-%d", i)
			if _, err := h.Ask(ctx, "coordinator", Request{ID: id, Reason: "a test", Plan: one}); err != nil {
				t.Error(err)
				return
			}
			switch _, err := h.Round(ctx, "coordinator", id, first()); {
			case err == nil:
				released.Add(1)
			case errors.Is(err, ErrRefused):
				refused.Add(1)
				if s, err := h.Status(ctx, "coordinator", id); err != nil || s.State != Refused || s.Why == "" {
					t.Errorf("refused: %+v, %v", s, err)
				}
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if released.Load() != 10 || refused.Load() != 40 || spent(t, h.Books) != 1.25 {
		t.Errorf("%d released, %d refused, rho %v spent", released.Load(), refused.Load(), spent(t, h.Books))
	}
}

// Nodes count their own rounds, whoever asks.
func TestNodesCountTheirRounds(t *testing.T) {
	dir, c := declared(t, func(d *Data) {
		d.Policy.Auto, d.Protects, d.Budget.Epsilon = epsilon("100"), federated.Node, epsilon("100")
	})
	h := open(t, dir, c)
	p := training(12)
	p.Unit, p.Local.Rate, p.Every, p.Most = federated.Node, 1, 2, 3
	must(h.Ask(ctx, "coordinator", Request{ID: "a", Reason: "r", Plan: p}))
	var took []int
	for round := range p.Rounds {
		q := first()
		q.Round = round
		if round == 5 {
			h = open(t, dir, c) // killed and started again
		}
		switch _, err := h.Round(ctx, "coordinator", "a", q); {
		case err == nil:
			took = append(took, round)
		case !errors.Is(err, ErrMayNot):
			t.Fatal(err)
		}
	}
	if fmt.Sprint(took) != "[0 2 4]" || p.Participations() != 3 {
		t.Errorf("took part in rounds %v", took)
	}
	if got := spent(t, h.Books); got != 3.0/32 {
		t.Errorf("charged %v for three rounds of noise 4", got)
	}
	// A guarantee for persons says nothing of the node.
	if _, err := h.Ask(ctx, "coordinator", Request{ID: "b", Reason: "r", Plan: training(2)}); !errors.Is(err, ErrRequest) {
		t.Errorf("a run for persons on data that protect the node: %v", err)
	}
}

// A run that protects nodes is charged to persons at twice the distance.
func TestPersonsPayForRunsOfNodes(t *testing.T) {
	dir, c := declared(t, func(d *Data) { d.Policy.Auto = epsilon("10") })
	h := open(t, dir, c)
	p := training(1)
	p.Unit, p.Local.Rate = federated.Node, 1
	must(h.Ask(ctx, "coordinator", Request{ID: "a", Reason: "r", Plan: p}))
	must(h.Round(ctx, "coordinator", "a", first()))
	if got := spent(t, h.Books); got != 4.0/32 {
		t.Errorf("charged %v, not four times 1/32", got)
	}
}

// An application's vectors are bounded, hidden and charged here, or do not come back.
func TestVectors(t *testing.T) {
	dir, c := declared(t, func(d *Data) { d.Policy.Auto, d.Protects = epsilon("4"), federated.Node })
	h := open(t, dir, c)
	p := training(2)
	p.Unit, p.Local.Rate = federated.Node, 1
	r := Request{ID: "flower", Reason: "r", Plan: p, Vectors: true}
	if s := must(h.Ask(ctx, "coordinator", r)); s.State != Denied {
		t.Errorf("a vector of somebody else: %+v", s)
	}
	must(h.Ask(ctx, "app", r))
	if _, err := h.Round(ctx, "app", "flower", first()); !errors.Is(err, ErrRequest) {
		t.Errorf("a round without a vector: %v", err)
	}
	u := must(h.Round(ctx, "app", "flower", RoundRequest{Vector: []float32{1e9, 0, 0}, Clip: 1}))
	if u.Sum[0] > 40<<20 || u.Sum[1] == 0 && u.Sum[2] == 0 {
		t.Errorf("a vector that was clipped to 1 and got noise 4: %v", u.Sum)
	}
	if spent(t, h.Books) != 1.0/16 {
		t.Errorf("charged %v", spent(t, h.Books))
	}
}

func TestQueries(t *testing.T) {
	dir, c := declared(t, func(d *Data) {
		d.Policy.Auto = epsilon("1")
		d.Budget = Budget{Measure: filter.Pure, Epsilon: epsilon("1")}
	})
	h := open(t, dir, c)
	ask := func(id string, q Query) (string, error) {
		t.Helper()
		q.Data, q.Epsilon = "patients", epsilon("0.25")
		if _, err := h.Ask(ctx, "coordinator", Request{ID: id, Reason: "r", Query: &q}); err != nil {
			return "", err
		}
		a, err := h.Answer(ctx, "coordinator", id)
		return fmt.Sprint(a), err
	}
	one := must(ask("count", Query{Of: "count"}))
	if two := must(ask("count", Query{Of: "count"})); one != two {
		t.Errorf("asked again: %s, not %s", two, one)
	}
	must(ask("mean", Query{Of: "mean", Column: "age", Lower: 0, Upper: 100}))
	must(ask("bins", Query{Of: "histogram", Column: "age", Edges: []float64{0, 50, 100}}))
	if _, err := ask("none", Query{Of: "sum", Column: "height", Lower: 0, Upper: 1}); !errors.Is(err, ErrRequest) {
		t.Errorf("a column that there is not: %v", err)
	}
	if _, err := ask("identity", Query{Of: "identity"}); !errors.Is(err, ErrRequest) {
		t.Errorf("an unknown query: %v", err)
	}
	if balance := must(h.ledger.Balance(ctx, "patients")); balance.Spent.Epsilon.Float64() > 1 {
		t.Errorf("spent %v", balance.Spent.Epsilon)
	}
	must(ask("median", Query{Of: "median", Column: "age", Lower: 0, Upper: 100}))
	if _, err := ask("over", Query{Of: "count"}); !errors.Is(err, ErrRefused) {
		t.Errorf("above the budget: %v", err)
	}
}
