package rank

import (
	"fmt"
	"math/big"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// States that are not the same have keys that are not: a round that is not followed because
// another one was taken for it would be a case left out.
func TestKeys(t *testing.T) {
	v, w := &program.Variable{Name: "v"}, &program.Variable{Name: "w"}
	values := []value{
		nil, unknown{}, size{}, public{number(1, program.Int)}, public{program.Truth(true)}, public{program.Ref{Var: v}},
		index{1}, index{2}, index{lost}, shown{as: "1 + 2"}, shown{as: "2 + 1"},
		sum{}, sum{{atom{}, one}}, sum{{atom{}, minusOne}}, sum{{atom{}, big.NewRat(1, 2)}}, sum{{atom{text: "v + 1"}, one}},
		sum{{atom{at: 1}, one}}, sum{{atom{at: 2}, one}}, sum{{atom{of: v, at: 1}, one}}, sum{{atom{of: w, at: 1}, one}},
		sum{{atom{at: 1}, one}, {atom{at: 2}, minusOne}}, sum{{atom{at: 1}, minusOne}, {atom{at: 2}, one}},
		column{}, column{isList: true}, column{isList: true, list: []value{size{}}}, column{isList: true, list: []value{size{}, size{}}},
		column{open: true}, column{grows: true}, column{old: size{}}, column{now: size{}}, column{set: size{}},
	}
	var states []*state
	for _, x := range values {
		for _, y := range values {
			states = append(states, &state{vars: []value{x, y}})
		}
	}
	for field := range reflect.TypeFor[state]().Fields() {
		s := &state{vars: make([]value, 2)}
		switch field.Name {
		case "n":
			s.n = 1
		case "first":
			s.first = 1
		case "now":
			s.now = 1
		case "at":
			s.at = 1
		case "exact":
			s.exact = true
		case "seen":
			s.seen = 2
		case "lows":
			s.lows = 1
		case "after":
			s.after = 2
		case "second":
			s.second = 1
		case "drew":
			s.drew = true
		case "ahead":
			s.ahead = true
		case "drawn":
			s.drawn = true
		case "vars":
			continue
		case "decided":
			for _, d := range []map[string]bool{{"a": true}, {"a": false}, {"b": true}, {"a": true, "b": true}} {
				states = append(states, &state{vars: make([]value, 2), decided: d})
			}
			continue
		default:
			t.Fatalf("a state has %s, of which its key may not tell", field.Name)
		}
		states = append(states, s)
	}
	keys := map[string]*state{}
	for _, s := range states {
		if other, ok := keys[s.key()]; ok {
			t.Errorf("%s is the key of %+v and of %+v", s.key(), *other, *s)
		}
		keys[s.key()] = s
	}
	if len(keys) < len(values)*len(values) {
		t.Error(fmt.Sprint("only ", len(keys)))
	}
}

// A condition that is decided in one state is open in the others.
func TestDecided(t *testing.T) {
	eps := &program.Variable{Name: "eps", Sort: program.Real, Input: true}
	x := program.Binary{Op: program.Gt, X: program.Ref{Var: eps}, Y: number(1, program.Real)}
	s := &state{decided: map[string]bool{}}
	all, err := (&machine{}).cases(x, s, 0)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	for _, c := range all {
		if yes, ok := c.decided[x.String()]; !ok || yes != c.yes {
			t.Errorf("where it is %v, it was decided %v", c.yes, c.decided)
		}
	}
	if len(s.decided) > 0 {
		t.Errorf("it was decided before: %v", s.decided)
	}
}
