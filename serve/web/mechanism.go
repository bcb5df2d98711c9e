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
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/problem"
)

func (s *site) mechanism() page {
	return page{path: "/mechanism", word: "Mechanisms", script: "live.js", audience: accounts, get: s.showMechanism}
}

// A kind is a mechanism that the page shows, by the name that discreet noise has for it.
type kind struct {
	Name, Word, About string
	Fields            []string // that its form has, beside the confidence
	make              func(setting) (*release, error)
}

func kinds() []kind {
	return []kind{
		{"laplace", "Laplace", "Noise on a number, with a pure guarantee: for one number, or a few.", []string{"sensitivity", "epsilon"}, laplaceRelease},
		{"geometric", "Geometric", "Discrete Laplace noise on a whole number, with a pure guarantee: for counts.", []string{"sensitivity", "epsilon"}, geometricRelease},
		{"gaussian", "Gaussian", "Noise with lighter tails on a number: for many numbers at once.", []string{"sensitivity", "by", "delta"}, gaussianRelease},
		{"discrete-gaussian", "Discrete Gaussian", "Noise with lighter tails on a whole number: for many counts at once.", []string{"sensitivity", "by", "delta"}, discreteGaussianRelease},
		{"randomized-response", "Randomized response", "Respondents tell the truth only sometimes, and nobody else needs to be trusted.", []string{"answers", "epsilon", "respondents"}, responseRelease},
	}
}

// A field is an input of the form, with the numbers that are read there.
type field struct {
	Name, Label, Hint string
	Value             string
	least, most       string // of a number; what lies beyond would show nothing
	whole             bool
	Bad               bool
}

func fields() []field {
	return []field{
		{Name: "sensitivity", Label: "Sensitivity", Hint: "how far one unit moves the number", Value: "1", least: "1e-9", most: "1e9"},
		{Name: "answers", Label: "Possible answers", Hint: "how many there are to tell", Value: "2", least: "2", most: "1000", whole: true},
		{Name: "epsilon", Label: "Epsilon", Hint: "what it may cost", Value: "1", least: "0.001", most: "100"},
		{Name: "rho", Label: "Rho", Hint: "what it may cost, in zCDP", Value: "0.1", least: "0.000001", most: "100"},
		{Name: "delta", Label: "Delta", Hint: "at which ε is told", Value: "1e-6", least: "1e-15", most: "0.5"},
		{Name: "respondents", Label: "Respondents", Hint: "how many answer", Value: "1000", least: "1", most: "1e12", whole: true},
		{Name: "confidence", Label: "Confidence", Hint: "of the interval", Value: "0.95", least: "0.5", most: "0.9999"},
	}
}

// A setting is what a mechanism's form says.
type setting struct {
	kind   kind
	number map[string]*big.Rat
	byRho  bool // a Gaussian's cost is named in rho; else in epsilon and delta
}

// beta is what the confidence lacks of 1.
func (s setting) beta() *big.Rat { return new(big.Rat).Sub(big.NewRat(1, 1), s.number["confidence"]) }

// cost is the name of the amount that is chosen.
func (s setting) cost() string {
	if slices.Contains(s.kind.Fields, "by") && s.byRho {
		return "rho"
	}
	return "epsilon"
}

// with is the setting at another cost.
func (s setting) with(cost *big.Rat) setting {
	all := map[string]*big.Rat{}
	for name, x := range s.number {
		all[name] = x
	}
	all[s.cost()] = cost
	s.number = all
	return s
}

// A showing is what the mechanism's page was asked, and what it answers.
type showing struct {
	Kinds  []kindLink
	Kind   kind
	By     string // "" where there is nothing to choose
	Fields []field
	Wrong  *problem.Problem

	Facts   []fact
	Figure  template.HTML
	Columns []string
	Numbers [][]string
	Cost    string
	Others  []otherCost
	Plan    string // that the accountant's page reads
	PlanAt  string

	setting setting
}

type (
	kindLink struct {
		To, Word string
		Here     bool
	}
	fact      struct{ Term, Text, Note string }
	otherCost struct {
		To, Cost, Within, Overlap string
		Here                      bool
	}
)

func (s *site) showMechanism(v *visit) error {
	a := &showing{}
	q := v.r.URL.Query()
	if a.Wrong = a.read(q); a.Wrong != nil {
		return v.show(a.Wrong.Status, "mechanism", "Mechanisms", a)
	}
	answer := *a
	err := s.Gateway.Reckon(v.r.Context(), v.who, func(ctx context.Context) error { return answer.reckon(ctx) })
	var refused *problem.Problem
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		a.Wrong = late()
	case errors.As(err, &refused) && refused.Status == http.StatusBadRequest:
		a.Wrong = refused
	case err != nil:
		return err
	default:
		return v.show(http.StatusOK, "mechanism", "Mechanisms", &answer)
	}
	return v.show(a.Wrong.Status, "mechanism", "Mechanisms", a)
}

// read reads the form. What it does not say is as the page begins.
func (a *showing) read(q url.Values) *problem.Problem {
	all := kinds()
	i := 0
	if name := q.Get("mechanism"); name != "" {
		i = slices.IndexFunc(all, func(k kind) bool { return k.Name == name })
	}
	for j, k := range all {
		a.Kinds = append(a.Kinds, kindLink{"/mechanism?mechanism=" + k.Name, k.Word, j == i})
	}
	if i < 0 {
		a.Kind, a.Fields = all[0], a.shown(fields(), all[0])
		a.Kinds[0].Here = true
		return problem.Request(http.StatusBadRequest, "there is no such mechanism here", "choose one of these")
	}
	a.Kind = all[i]
	a.setting = setting{kind: all[i], number: map[string]*big.Rat{}, byRho: q.Get("by") != "epsilon"}
	var wrong *problem.Problem
	list := fields()
	for j := range list {
		f := &list[j]
		if q.Has(f.Name) {
			f.Value = strings.TrimSpace(q.Get(f.Name))
		}
		x, err := f.parse()
		switch {
		case err == nil:
			a.setting.number[f.Name] = x
		case a.uses(f.Name) && wrong == nil:
			f.Bad = true
			wrong = problem.Request(http.StatusBadRequest, strings.ToLower(f.Label)+": "+err.Error(), "")
		}
		if len(f.Value) > 100 {
			f.Value = ""
		}
	}
	a.Fields = a.shown(list, a.Kind)
	return wrong
}

// uses reports whether the chosen form has a field.
func (a *showing) uses(name string) bool {
	switch {
	case name == "confidence", slices.Contains(a.Kind.Fields, name):
		return true
	case slices.Contains(a.Kind.Fields, "by"):
		return name == a.setting.cost()
	}
	return false
}

// shown are the fields of a form.
func (a *showing) shown(all []field, of kind) []field {
	if slices.Contains(of.Fields, "by") {
		a.By = a.setting.cost()
	}
	return slices.DeleteFunc(all, func(f field) bool {
		return !slices.Contains(of.Fields, f.Name) && f.Name != "confidence" && (a.By == "" || f.Name != "rho" && f.Name != "epsilon")
	})
}

// parse reads a number within its range.
func (f *field) parse() (*big.Rat, error) {
	x, err := numeric.ParseRat(f.Value)
	if err != nil {
		return nil, fmt.Errorf("want a number such as %s", f.example())
	}
	least, most := bound(f.least), bound(f.most)
	if x.Cmp(least) < 0 || x.Cmp(most) > 0 {
		return nil, fmt.Errorf("want a number from %s to %s", f.least, f.most)
	}
	if f.whole && !x.IsInt() {
		return nil, errors.New("want a whole number")
	}
	return x, nil
}

// example is a number that a field takes.
func (f *field) example() string {
	for _, other := range fields() {
		if other.Name == f.Name {
			return other.Value
		}
	}
	return "1"
}

// bound is an end of a field's range, which this file writes.
func bound(text string) *big.Rat {
	x, err := numeric.ParseRat(text)
	if err != nil {
		panic(err)
	}
	return x
}

// address is the page's at another cost.
func (a *showing) address(cost string) string {
	q := url.Values{"mechanism": {a.Kind.Name}}
	for _, f := range a.Fields {
		q.Set(f.Name, f.Value)
	}
	if a.By != "" {
		q.Set("by", a.By)
	}
	q.Set(a.setting.cost(), cost)
	return "/mechanism?" + q.Encode()
}

// figures prints a number that is no bound in four digits.
func figures(x float64) string { return tidy(strconv.FormatFloat(x, 'g', 4, 64)) }

// amountOf is a number as an amount of privacy.
func amountOf(x *big.Rat) (privacy.Epsilon, error) { return privacy.NewEpsilon(x) }
