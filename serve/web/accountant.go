package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/problem"
)

func (s *site) accountant() page {
	return page{path: "/accountant", word: "Accountant", script: "live.js", audience: accounts, get: s.showAccountant}
}

// How much may be asked of one page. What a plan may be, package plan says.
const (
	maxPlans     = 6
	maxPlansText = 8 << 10
)

// An accounting is what the accountant's page was asked, and what it answers.
type accounting struct {
	Plans, Of, Epsilon, Delta, Relation string // as they were entered

	Relations []privacy.Neighbours
	Examples  []example
	Wrong     *problem.Problem // with the form
	Results   []*planResult    // nil where nothing was asked
	Many      bool
	At        string // what is asked for, and at what
	Curve     template.HTML
	Columns   []string // of the curve's numbers
	Numbers   [][]string
	Missing   string // what the curve lacks

	plans          []string
	epsilon, delta *big.Rat
	options        accountant.Options
}

// An example is a link that fills the form in.
type example struct {
	Name string
	To   string
}

func examples() []example {
	link := func(name, of, epsilon, delta, relation string, plans ...string) example {
		q := url.Values{"plans": {strings.Join(plans, "\n")}, "of": {of}, "epsilon": {epsilon}, "delta": {delta}, "relation": {relation}}
		return example{name, "/accountant?" + q.Encode()}
	}
	return []example{
		link("a hundred counts, by two kinds of noise", "epsilon", "1", "1e-6", "add-remove", "100 * laplace(10)", "100 * gaussian(10)"),
		link("a training run", "epsilon", "1", "1e-5", "add-remove", "14063 * poisson(256/60000, gaussian(1.1))"),
		link("the noise that keeps a run within ε 1", "epsilon", "1", "1e-5", "add-remove", "14063 * poisson(256/60000, gaussian(?))"),
		link("shuffled answers", "epsilon", "1", "1e-6", "replace-one", "shuffled(10000, randomized_response(0.75))"),
	}
}

func (s *site) showAccountant(v *visit) error {
	q := v.r.URL.Query()
	a := &accounting{Plans: q.Get("plans"), Of: q.Get("of"), Epsilon: q.Get("epsilon"), Delta: q.Get("delta"), Relation: q.Get("relation"), Examples: examples(),
		Relations: []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceOne, privacy.ReplaceSpecial}}
	if !q.Has("plans") {
		a.Of, a.Epsilon, a.Delta = "epsilon", "1", "1e-6"
		return v.show(http.StatusOK, "accountant", "Accountant", a)
	}
	if a.Wrong = a.read(); a.Wrong != nil {
		return v.show(a.Wrong.Status, "accountant", "Accountant", a)
	}
	// It is written to a copy, which nobody reads who did not see the end of the work.
	answer := *a
	err := s.Gateway.Reckon(v.r.Context(), v.who, func(ctx context.Context) error { return answer.reckon(ctx) })
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		a.Wrong = late()
	case err != nil:
		return err
	default:
		a = &answer
	}
	return v.show(a.status(), "accountant", "Accountant", a)
}

// late says that the accountants' time was over.
func late() *problem.Problem {
	return problem.Request(http.StatusServiceUnavailable, "the accountants did not finish in time", "ask for fewer plans, or for shorter ones")
}

// status is that of the page: of plans of which none has a bound, what is wrong with the first.
func (a *accounting) status() int {
	if a.Wrong != nil {
		return a.Wrong.Status
	}
	for _, r := range a.Results {
		if r.Wrong == nil {
			return http.StatusOK
		}
	}
	return a.Results[0].Wrong.Status
}

// read reads the form.
func (a *accounting) read() *problem.Problem {
	refuse := func(message, hint string) *problem.Problem {
		return problem.Request(http.StatusBadRequest, message, hint)
	}
	if len(a.Plans) > maxPlansText {
		a.Plans = "" // it would only come back
		return refuse(fmt.Sprintf("the plans are longer than %d bytes", maxPlansText), "send fewer, or shorter ones")
	}
	for line := range strings.Lines(a.Plans) {
		if line = strings.TrimSpace(line); line != "" {
			a.plans = append(a.plans, line)
		}
	}
	switch {
	case len(a.plans) == 0:
		return refuse("there is no plan", "write one, such as 10 * gaussian(3)")
	case len(a.plans) > maxPlans:
		return refuse(fmt.Sprintf("there are %d plans, more than %d", len(a.plans), maxPlans), "compare fewer at once")
	case a.Of != "epsilon" && a.Of != "delta":
		return refuse("it is not said what is asked for", "ask for epsilon at the delta, or for delta at the epsilon")
	}
	i := slices.IndexFunc(a.Relations, func(n privacy.Neighbours) bool { return n.String() == a.Relation })
	if i < 0 {
		return refuse("there is no such relation", "choose one of those in the form")
	}
	a.options.Neighbours = a.Relations[i]
	a.Epsilon, a.Delta = strings.TrimSpace(a.Epsilon), strings.TrimSpace(a.Delta)
	var err error
	if a.epsilon, err = bounds.ParseEpsilon(a.Epsilon); err != nil {
		return refuse("epsilon: "+err.Error(), "write a number such as 0.5")
	}
	if a.delta, err = bounds.ParseDelta(a.Delta); err != nil {
		return refuse("delta: "+err.Error(), "write a number such as 1e-6")
	}
	if a.delta.Cmp(big.NewRat(1, 1)) >= 0 {
		return refuse("delta is not below 1", "write a number such as 1e-6: a delta of 1 promises nothing")
	}
	return nil
}

// Rows is how high the field of plans is.
func (a *accounting) Rows() int { return min(max(3, len(a.plans)+1), maxPlans+1) }

// asksEpsilon reports whether epsilon is asked for, at the delta.
func (a *accounting) asksEpsilon() bool { return a.Of == "epsilon" }
