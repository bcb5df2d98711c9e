package source_test

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// Draws of distributions have their law, by the type, and its parameter, by the path.
func TestSamplers(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/samplers")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"mechanism.Index": {"Choose", "2 / scale(m.choice)"},
		"mechanism.Any":   {"Uniform n + 1"},
		"mechanism.Toss":  {"Bernoulli m.hit", "Bernoulli m.way"},
	}
	for _, u := range read[0].Units {
		if want[u.Name] == nil {
			if u.Function != nil || len(u.Refusals) == 0 {
				t.Errorf("%s is read, or refused without a word", u.Name)
			}
			continue
		}
		if u.Function == nil || u.Claim == nil {
			t.Errorf("%s: %v", u.Name, u.Refusals)
			continue
		}
		var laws []string
		var walk func([]program.Statement)
		walk = func(list []program.Statement) {
			for _, s := range list {
				switch s := s.(type) {
				case program.Draw:
					laws = append(laws, s.Law.String()+" "+s.Parameter.String())
				case program.If:
					walk(s.Then)
					walk(s.Else)
				}
			}
		}
		walk(u.Function.Body)
		for _, w := range want[u.Name] {
			if !strings.Contains(strings.Join(laws, "\n"), w) {
				t.Errorf("%s draws %q, want %s", u.Name, laws, w)
			}
		}
	}
}
