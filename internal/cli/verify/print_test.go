package verify

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/verify"
)

func TestObligationsAreFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	r := verdictsSample()
	r.Results[0].Function = "(*T[int]).Good"
	n, err := writeObligations(dir, r)
	if n != 1 || err != nil {
		t.Fatal(n, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "example.org_p.Tint.Good.01.smt2"))
	if err != nil || string(text) != "; loop at line 9 keeps\n(check-sat)\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestProgressLine(t *testing.T) {
	for _, p := range []verify.Progress{{Doing: "reading packages"}, {Done: 3, All: 14, Doing: "searching SparseVector"}} {
		line := progressLine(&p)
		if !strings.Contains(line, p.Doing) || strings.Contains(line, "3 of 14") != (p.All > 0) {
			t.Error(line)
		}
	}
}

func TestSolverNote(t *testing.T) {
	for _, test := range []struct {
		missing, failing []string
		want             string
	}{
		{nil, nil, ""},
		{[]string{"z3"}, nil, "z3 is not installed: certificates were replayed, and no new proof by couplings was searched for; apt-get install z3"},
		{[]string{"cvc5"}, nil, "cvc5 is not installed: certificates were checked without a second opinion; apt-get install cvc5"},
		{[]string{"z3", "cvc5"}, nil, "z3 and cvc5 are not installed: certificates were replayed, and no new proof by couplings was searched for; apt-get install z3 cvc5"},
		{nil, []string{"z3"}, "z3 cannot be run: certificates were replayed, and no new proof by couplings was searched for"},
		{[]string{"cvc5"}, []string{"z3"}, "z3 cannot be run, cvc5 is not installed: certificates were replayed, and no new proof by couplings was searched for; apt-get install cvc5"},
	} {
		if got := solverNote(test.missing, test.failing); got != test.want {
			t.Errorf("%v %v: %q, want %q", test.missing, test.failing, got, test.want)
		}
	}
}

// Where functions are of several packages, each is shown with its own.
func TestTitlesOfSeveralPackages(t *testing.T) {
	r := verdictsSample()
	r.Results[1].Package = "example.org/q"
	if got := strings.Join([]string{title(&r.Results[0], r), title(&r.Results[1], r)}, " "); got != "p.Good q.Bad" {
		t.Error(got)
	}
}

func TestVerdictsForPeople(t *testing.T) {
	var out, talk bytes.Buffer
	v := verification{proof: true}
	v.print(terminal.New(nil, &out, &talk), verdictsSample(), "/module")
	const want = `function  claim             verdict  over   least cost  seconds
--------  ----------------  -------  -----  ----------  -------
Good      cost 2*eps        proved   grid   eps            0.12
Bad       cost eps          refuted  reals                 1.50
T.Odd     cost eps\x1b[31m  unknown  reals                 0.00

proof of Good (p/svt.go:7)
  line 8        t + 1 in the second run
  p/other.go:9  diff(t) == 1
                and the cost is eps/2
                so it costs eps

refuted: Bad (p/svt.go:20)
  inputs       eps = 1, q = [0, 1]
  neighbour    q = [1, 0]
  event        returns [false, true]
  probability  [0.1967, 0.1968] for the inputs, 0 for the neighbour
  epsilon      at least infinity; claimed is 1
  false for    eps from 0.1 to 10, tried at each factor of 2

unknown: T.Odd (p/svt.go:40)
  note     no alignment within the templates
  outside  p/svt.go:44:3: select
           draw in one goroutine
`
	if got := out.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
	if got := talk.String(); got != "1 of 3 claims proved\n" {
		t.Errorf("said %q", got)
	}
}

// The contract's form: names, and infinity as a word.
func TestVerdictsInJSON(t *testing.T) {
	text, err := json.Marshal(verdictsJSON(verdictsSample(), "/module"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Functions []struct {
			Package, Function, Claim, Verdict, Over, Certificate, Note, File string
			LeastCost                                                        string `json:"least_cost"`
			Alignment                                                        []map[string]any
			Counterexample                                                   *struct {
				Inputs, Neighbour map[string]any
				Event             string
				P, Q              []float64
				Epsilon           any
			}
			Seconds *float64
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	good, bad, odd := got.Functions[0], got.Functions[1], got.Functions[2]
	if good.Verdict != "proved" || good.Over != "grid" || good.LeastCost != "eps" || good.Alignment[0]["shift"] != "1" || good.Counterexample != nil || good.File != "p/svt.go" {
		t.Errorf("%+v", good)
	}
	if c := bad.Counterexample; c == nil || c.Epsilon != "infinity" || !slices.Equal(c.P, []float64{0.1967, 0.1968}) || !slices.Equal(c.Q, []float64{0, 0}) || c.Inputs["eps"] != 1.0 {
		t.Errorf("%+v", bad.Counterexample)
	}
	if odd.Verdict != "unknown" || odd.Note == "" || odd.Seconds == nil || odd.Certificate != "" {
		t.Errorf("%+v", odd)
	}
}

// verdictsSample has a result of each kind.
func verdictsSample() *verify.Report {
	const file = "/module/p/svt.go"
	return &verify.Report{Results: []verify.Result{
		{Package: "example.org/p", Function: "Good", Claim: "adjacent each(q) <= 1\ncost 2*eps", Verdict: verify.Proved, Over: verify.Grid, LeastCost: "eps", File: file, Line: 7, Column: 1, Seconds: 0.123,
			Certificate: "discreet.proofs.json#Good",
			Alignment:   []verify.Shift{{Draw: "t", Line: 8, Shift: "1"}},
			Proof: []verify.Step{
				{Kind: verify.Coupling, Line: 8, Text: "t + 1 in the second run"},
				{Kind: verify.Invariant, File: "/module/p/other.go", Line: 9, Text: "diff(t) == 1\nand the cost is eps/2"},
				{Text: "so it costs eps"},
			},
			Obligations: []verify.Obligation{{Name: "loop at line 9\nkeeps", SMT: "(check-sat)\n\n"}}},
		{Package: "example.org/p", Function: "Bad", Claim: "cost eps", Verdict: verify.Refuted, Over: verify.Reals, File: file, Line: 20, Column: 1, Seconds: 1.5,
			Counterexample: &verify.Counterexample{
				Inputs:    map[string]any{"q": []float64{0, 1}, "eps": 1.0},
				Neighbour: map[string]any{"q": []float64{1, 0}, "eps": 1.0},
				Event:     "returns [false, true]", P: [2]float64{0.1967, 0.1968},
				Epsilon: verify.Number(math.Inf(1)), Claimed: 1, Parameter: "eps", Fails: &[2]float64{0.1, 10},
			}},
		{Package: "example.org/p", Function: "T.Odd", Claim: "cost eps\x1b[31m", Verdict: verify.Unknown, Over: verify.Reals, File: file, Line: 40, Column: 1, Note: "no alignment within the templates",
			Problems: []verify.Problem{{Kind: verify.Outside, File: file, Line: 44, Column: 3, Text: "select", Hint: "draw in one goroutine"}}},
	}}
}
