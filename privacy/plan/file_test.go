package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/privacy"
)

func opener(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

// What a file says stands in the event.
func TestReadPlan(t *testing.T) {
	files := opener(map[string]string{
		"curve.csv": "order,eps\n# a comment\n2, 0.1\n\n8,1/2\n",
		"pair.csv":  "0.75,0.25\r\n0.25,3/4\r\n",
		"named.csv": "P, Q\n0.5,0.25\n0.5,0.75\n",
	})
	for text, want := range map[string]string{
		`rdp("curve.csv")`:                                 "rdp(2: 0.1, 8: 0.5)",
		`3*pair("pair.csv") + pure(0.1)`:                   "3*pair(0.75: 0.25, 0.25: 0.75) + pure(0.1)",
		`poisson(0.1, add_remove( pair ( "named.csv" ) ))`: "poisson(0.1, add_remove(pair(0.5: 0.25, 0.5: 0.75)))",
	} {
		p, err := Read(text, files)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		e, err := p.Event()
		if err != nil || e.String() != want || strings.Contains(p.String(), "csv") {
			t.Errorf("%s: %v, printed %v, %v; want %s", text, e, p, err, want)
			continue
		}
		readsBack(t, e)
	}
	// The unknown of the plan stays one.
	p, err := Read(`?*rdp("curve.csv")`, files)
	if err != nil || !p.Unknown() || p.String() != "?*rdp(2: 0.1, 8: 1/2)" {
		t.Errorf("%v, %v", p, err)
	}
}

// What is wrong with a file is said with its name and line.
func TestReadPlanRefused(t *testing.T) {
	long := strings.Repeat("# long\n", maxText/7+1)
	for text, want := range map[string]string{
		"2,x":                  `line 1: eps is x: no event or function is named x`,
		"2,0.1\n\n\n3":         `line 4: 1 fields`,
		"2,0.1,4":              `line 1: 3 fields`,
		"2,?":                  `line 1: eps is unknown`,
		"2,pure(1)":            `line 1: eps is an event`,
		"2,\"0.1":              `line 1: extraneous`,
		"":                     "has no line of numbers",
		"order,eps\n# nothing": "has no line of numbers",
		"order,eps\norder,eps": "line 2: order is order",
		"2,-1":                 "not positive",
		"1,0.1":                "not above 1",
		"3,0.1\n2,0.1":         "do not increase",
		long:                   "longer than 256 KiB",
		"2,nofile(1)":          "line 1: eps is nofile(1): no event or function",
	} {
		_, err := Read(`rdp("curve.csv")`, opener(map[string]string{"curve.csv": text}))
		var s *SyntaxError
		if !errors.As(err, &s) || !strings.Contains(s.Message, want) && !(strings.HasPrefix(want, "line 1: extraneous") && strings.Contains(s.Message, "line 1")) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		`rdp("none.csv")`:        "not exist",
		`pure("curve.csv")`:      "pure takes no file",
		`rdp("curve.csv", 3: 4)`: "stands alone",
		`rdp("curve.csv`:         "in quotes",
		`rdp("")`:                "in quotes",
		`"curve.csv"`:            "want an event",
		`pair("half.csv")`:       "add up to 1 - 0.5",
		`pair("over.csv")`:       "add up to 1 + 0.1",
		`pair("same.csv")`:       "both laws are the same",
		`pair("apart.csv")`:      "no outcome in common",
		`pair("many.csv")`:       "more than 4096 outcomes",
		`pair("root.csv")`:       "is not rational",
		`pair("two.csv")`:        "does not lie between 0 and 1",
		`pair("none.csv")`:       "not exist",
	} {
		_, err := Read(text, opener(map[string]string{"curve.csv": "2,0.1", "half.csv": "0.5,0.5", "over.csv": "0.5,0.5\n0.6,0.5", "same.csv": "0.5,0.5\n0.5,0.5", "apart.csv": "0,1\n1,0",
			"many.csv": strings.Repeat("1/5000,1/5000\n", 5000), "root.csv": "sqrt(1/2),1", "two.csv": "2,1"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// Nobody reads a file but who says how.
	for _, text := range []string{`rdp("curve.csv")`, `{"rdp": "curve.csv"}`, `{"pair": {"p": "curve.csv", "q": [1]}}`} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s is read", text)
		}
	}
	if _, err := Read(`{"rdp": "curve.csv"}`, opener(map[string]string{"curve.csv": "2,0.1"})); err == nil {
		t.Error("JSON names a file")
	}
}

// A pair is one that speaks of replace-one only if it is the same both ways round.
func TestPairMirrored(t *testing.T) {
	for plan, want := range map[string]bool{
		"pair(0.75: 0.25, 0.25: 0.75)":                          true,
		"pair(0.5: 0.25, 0.25: 0.5, 0.25: 0.25)":                true,
		"pair(0.25: 0.125, 0.25: 0.125, 0.25: 0.5, 0.25: 0.25)": true,
		"pair(0.5: 0.25, 0.5: 0.75)":                            false,
		"pair(0.9: 0.9, 0.1: 0, 0: 0.1)":                        true,
		"pair(0.9: 1, 0.1: 0)":                                  false,
		"pair(0.4: 0.3, 0.3: 0.4, 0.3: 0.2999999)":              false,
	} {
		p, err := Parse(plan)
		if err != nil {
			t.Fatal(plan, err)
		}
		e, _ := p.Event()
		if err := privacy.Holds(e, privacy.ReplaceOne); (err == nil) != want {
			t.Errorf("%s under replace-one: %v", plan, err)
		}
		for _, n := range []privacy.Neighbours{privacy.AddRemove, privacy.ReplaceSpecial} {
			if err := privacy.Holds(e, n); err != nil {
				t.Error(fmt.Sprint(plan, n), err)
			}
		}
	}
}
