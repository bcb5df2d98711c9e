package audit

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"github.com/discreet-dp/discreet/audit"
	"github.com/discreet-dp/discreet/internal/cli/terminal"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/display"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// A playResult is how an attack fared against one kind of answers.
type playResult struct {
	Answers string           `json:"answers"`           // exact, bounded, discreet
	Queries int              `json:"queries"`           // in a run, at most
	Within  float64          `json:"within,omitempty"`  // of bounded noise
	Epsilon *privacy.Epsilon `json:"epsilon,omitempty"` // that a run may spend in all
	Right   int              `json:"right"`             // guesses that are right
	Of      int              `json:"of"`
	Success float64          `json:"success"`
	// Allowed is the most that the theorem leaves to an attack. PValue is at most the
	// probability of so many right guesses, if the theorem holds. Both are null where no
	// theorem speaks: for answers that are not private, and for bits that were not drawn.
	Allowed *float64 `json:"allowed"`
	PValue  *float64 `json:"p_value"`
	// EpsilonLowerBound is what the guesses prove; null for bits that were not drawn.
	EpsilonLowerBound *float64 `json:"epsilon_lower_bound"`
}

// A playReport is what an attack showed.
type playReport struct {
	Attack     string  `json:"attack"`
	Data       string  `json:"data"`
	Private    bool    `json:"private"` // made from exact values of the owner's
	Notice     string  `json:"notice,omitempty"`
	Units      int     `json:"units"`
	Runs       int     `json:"runs"`
	Confidence float64 `json:"confidence"`
	// Commonest is the share of units with the more frequent bit, in the owner's data. Guessing
	// that bit for all is right for this share. Null for drawn bits.
	Commonest *float64     `json:"commonest"`
	Results   []playResult `json:"results"`
}

// play runs an attack and prints how it fared.
func (a *auditing) play(ctx context.Context, t *terminal.Terminal) error {
	secret, err := a.secrets(ctx)
	if err != nil {
		return err
	}
	if secret != nil {
		a.resize(len(secret))
	}
	if a.plot != "" {
		return a.draw(ctx, t, secret)
	}
	step, done := t.Progress(ctx, "attacking", a.runs*len(a.opponents()))
	defer done()
	r := playReport{Attack: a.verb, Data: "drawn", Units: a.units, Runs: a.runs, Confidence: a.confidence}
	if secret != nil {
		r.Data, r.Private, r.Notice = a.table+" where "+a.where, true, auditPrivate
		r.Commonest = commonest(secret)
	}
	for _, answers := range a.opponents() {
		result, err := a.against(ctx, answers, secret, step)
		if err != nil {
			return unplayable(err)
		}
		r.Results = append(r.Results, result)
	}
	done()
	if a.json {
		return t.WriteJSON(r)
	}
	a.writePlay(t, r)
	return nil
}

func commonest(bits []bool) *float64 {
	n := 0
	for _, b := range bits {
		if b {
			n++
		}
	}
	share := float64(max(n, len(bits)-n)) / float64(len(bits))
	return &share
}

// resize takes the owner's number of units, and all that follows from it.
func (a *auditing) resize(n int) {
	if a.verb == "reconstruct" && a.queries == 4*a.units {
		a.queries = 4 * n
	}
	a.units = n
}

// asked is the number of queries of a run.
func (a *auditing) asked() int {
	if a.verb == "threshold" {
		return audit.ProbeQueries(a.units)
	}
	return a.queries
}

// An opponent answers in one way.
type opponent struct {
	answers string
	epsilon *privacy.Epsilon
	queries int // of the attack
}

// opponents are the rows of a table. Averages are also tried on a single answer of
// Discreet, which is the best that there is.
func (a *auditing) opponents() []opponent {
	all := []opponent{{"exact", nil, a.asked()}, {"bounded", nil, a.asked()}}
	for i := range a.epsilons {
		if a.verb == "average" && a.queries > 1 {
			all = append(all, opponent{"discreet", &a.epsilons[i], 1})
		}
		all = append(all, opponent{"discreet", &a.epsilons[i], a.asked()})
	}
	return all
}

// oracle answers about a secret. For Discreet's answers it has a budget that pays for all
// queries of the attack, each with an even share of epsilon.
func (a *auditing) oracle(o opponent) (func([]bool) (audit.Oracle, error), error) {
	switch o.answers {
	case "exact":
		return func(secret []bool) (audit.Oracle, error) { return audit.Exact(secret), nil }, nil
	case "bounded":
		return func(secret []bool) (audit.Oracle, error) { return audit.Bounded(a.bits, secret, a.within) }, nil
	}
	each, err := privacy.NewEpsilon(new(big.Rat).Quo(o.epsilon.Rat(), big.NewRat(int64(o.queries), 1)))
	if err != nil {
		return nil, unshared(*o.epsilon, o.queries, err)
	}
	m, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(1, 1), Epsilon: each})
	if err != nil {
		return nil, unshared(*o.epsilon, o.queries, err)
	}
	return func(secret []bool) (audit.Oracle, error) {
		b, err := budget.NewInMemory("audit", filter.Budget{Measure: filter.Pure, Epsilon: *o.epsilon})
		if err != nil {
			return nil, unshared(*o.epsilon, o.queries, err)
		}
		return audit.Private(a.bits, secret, audit.PrivateOptions{Mechanism: m, Budget: b})
	}, nil
}

// unshared refuses an epsilon that is too small to be shared by so many queries.
func unshared(e privacy.Epsilon, queries int, err error) error {
	return diagnostic.New("D132", diagnostic.Span{}, "epsilon %v is too little for %d queries: %v", e, queries, err)
}

// against plays all runs against one opponent, and calls step after each.
func (a *auditing) against(ctx context.Context, o opponent, secret []bool, step func()) (playResult, error) {
	oracle, err := a.oracle(o)
	if err != nil {
		return playResult{}, err
	}
	r := playResult{Answers: o.answers, Epsilon: o.epsilon, Queries: o.queries}
	if o.answers == "bounded" {
		r.Within = a.within
	}
	var proved float64
	if a.verb == "reconstruct" {
		r.Of = a.units * a.runs
		r.Right, err = a.reconstruct(ctx, oracle, secret, step)
		if err == nil && secret == nil {
			proved, err = audit.OneRunEpsilon(r.Of, r.Of, r.Right, 0, a.confidence)
		}
	} else {
		var c audit.Counts
		c, err = audit.Trials(ctx, a.bits, audit.TrialOptions{Attack: a.attack(o.queries), Oracle: oracle, Units: a.units, Runs: a.runs,
			Others: secret, Progress: func(int) { step() }})
		if r.Right, r.Of = c.Correct(), c.Runs(); err == nil && c.Members > 0 && c.Others > 0 {
			proved, err = c.EpsilonLowerBound(0, a.confidence)
		}
	}
	if err != nil {
		return playResult{}, err
	}
	r.Success = float64(r.Right) / float64(r.Of)
	if a.verb == "reconstruct" && secret != nil {
		return r, nil
	}
	r.EpsilonLowerBound = &proved
	if o.epsilon != nil {
		allowed := audit.SuccessBound(o.epsilon.Float64(), 0)
		p := audit.PValue(r.Right, r.Of, allowed)
		r.Allowed, r.PValue = &allowed, &p
	}
	return r, nil
}

func (a *auditing) attack(queries int) audit.Attack {
	switch a.verb {
	case "difference":
		return audit.Difference
	case "threshold":
		return audit.Probe
	}
	return audit.Average(queries)
}

// reconstruct counts the bits that come back, over all runs.
func (a *auditing) reconstruct(ctx context.Context, oracle func([]bool) (audit.Oracle, error), secret []bool, step func()) (right int, err error) {
	for range a.runs {
		drawn := secret
		if drawn == nil {
			if drawn, err = audit.Bits(a.bits, a.units); err != nil {
				return 0, err
			}
		}
		o, err := oracle(drawn)
		if err != nil {
			return 0, err
		}
		r, err := audit.Reconstruct(ctx, a.bits, o, a.units, audit.ReconstructOptions{Queries: a.queries, Robust: a.robust})
		if err != nil {
			return 0, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		right += r.Correct(drawn)
		step()
	}
	return right, nil
}

// writePlay prints a report for people.
func (a *auditing) writePlay(t *terminal.Terminal, r playReport) {
	if r.Private {
		fmt.Fprintf(t.Out, "%s\n\n", terminal.Wrap(r.Notice, t.Paragraph()))
	}
	g := terminal.Grid{{Title: "answers"}, {Title: "asked", Right: true}, {Title: "guessed right", Right: true}, {Title: "allowed", Right: true}, {Title: "epsilon at least", Right: true}}
	for _, x := range r.Results {
		name := map[string]string{"exact": "exact", "bounded": fmt.Sprintf("within ±%.3g", x.Within), "discreet": "discreet"}[x.Answers]
		if x.Epsilon != nil {
			name += ", epsilon " + x.Epsilon.String()
		}
		allowed, proved := "", ""
		if x.Allowed != nil {
			allowed = share100(*x.Allowed)
		}
		if x.EpsilonLowerBound != nil {
			proved = strconv.FormatFloat(*x.EpsilonLowerBound, 'f', 2, 64)
		}
		for j, cell := range []string{name, strconv.Itoa(x.Queries), share100(x.Success), allowed, proved} {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	g.Write(t.Out)
	if r.Commonest != nil && a.verb == "reconstruct" {
		t.Say("guessing the more frequent bit for everybody is right for %s; the allowed share is for bits that are drawn at random", share100(*r.Commonest))
	}
	t.Say("%d runs over %d units; what is proved has %s confidence", r.Runs, r.Units, display.Percent(r.Confidence))
	t.Say(auditNote)
}

// share100 prints a share, with more digits near the whole.
func share100(x float64) string {
	if x > 0.999 && x < 1 {
		return strconv.FormatFloat(100*x, 'g', 5, 64) + "%"
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + "%"
}
