package prove_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/prove"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// What is wrong is not proved: each falls into one trap.
func TestTraps(t *testing.T) {
	needZ3(t)
	all := units(t, "./scaled", "./right", "./wrong", "./lyu", "./more", "../internal/prove/testdata/traps")
	for _, trap := range []struct{ name, why string }{
		{"BadGapSVT", "bounded checking at size 3"},
		{"SVTOneDirection", "one direction only"},
		{"Interval", "missing injectivity"},
		{"Halved", "a map that does not keep volume"},
		{"Downwards", "a shift out of the support"},
		{"Fraction", "half an integer"},
		{"Invariant", "an invariant that is believed"},
		{"NoneBefore", "a cost that vanishes with its unit"},
		{"Difference", "a claim of which a part is negative"},
		{"MaybeNegative", "a parameter of any sign"},
		{"Coarse", "a grid that is wider than the distances"},
		{"Replaced", "a quotient by what is public, and the sum itself"},
		{"ThresholdEachTime", "thresholds that are drawn again"},
		{"RethresholdShort", "a threshold that is drawn again for free"},
		{"PartialSumOfAll", "adjacency forgotten"},
		{"BranchOnRaw", "a branch on data without noise"},
		{"NumSVTReused", "noise reused"},
		{"SharedNoise", "noise reused"},
		{"CancelledNoise", "noise reused"},
		{"DrawInBranch", "a draw inside a diverging branch"},
		{"BadNoisyMax", "a real result that is not compared"},
		{"Lyu4Near1", "costs that are nearly enough"},
		{"StreamForever", "no end"},
		{"Early", "a scale that is another when it is used"},
		{"OneMore", "a slice that is longer than it should be"},
		{"Late", "a copy of a parameter, and the parameter itself"},
		{"Spent", "costs that no part of the claim covers"},
		{"Named", "an outcome that is taken for an input"},
		{"QueryHalf", "half of the noise, in units"},
		{"ThresholdHalf", "half of the noise, in units"},
		{"Forgotten", "noise that does not grow with the answers, in units"},
		{"Bare", "a result that is not compared, in units"},
		{"BothWays", "one direction only, in units"},
		{"OneWay", "one direction only, in units"},
		{"Double", "twice the unit"},
		{"NoUnit", "noise without a unit"},
		{"Square", "a distance of another degree"},
		{"Signed", "a unit of any sign"},
		{"Rounded", "a grid that does not scale"},
		{"Steps", "a function that does not scale"},
		{"HalvesReal", "a quotient that does not scale"},
		{"Parity", "half an integer, in units"},
		{"CostsUnit", "a cost in units"},
		{"CostIsUnit", "a cost in units"},
		{"RoundedUnit", "a grid that does not scale"},
		{"Assigned", "a unit that changes"},
		{"Mixed", "a bound that does not scale"},
		{"KnownHalf", "a fact the other way round"},
		{"KnownAtMost", "an inequality for an equality"},
		{"KnownOr", "one of two for an equality"},
		{"KnownNot", "the contrary for an equality"},
		{"KnownOther", "a fact of something else"},
		{"Less", "a constant that does not scale"},
		{"Squares", "a square"},
		{"Scores", "a score without a unit"},
		{"Crossed", "the unit of the other"},
		{"Apart", "two elements of which one moves"},
		{"Coarsely", "an outcome that is whole, of results that are not in units"},
		{"PrivateCoin", "odds that depend on private data"},
		{"PrivateOdds", "odds that depend on private data"},
		{"PrivateSides", "a die that depends on private data"},
		{"PrivateScale", "a scale that depends on private data"},
		{"PrivateSigma", "a scale that depends on private data"},
		{"Normal", "a shift of noise that has no bound"},
		{"PrivateIndex", "another element is read"},
		{"PrivateLength", "another length"},
		{"PrivatePlace", "another element is written"},
		{"PrivateValue", "another value is written"},
		{"PrivateRounds", "another number of rounds"},
		{"AsItIs", "private data that are returned"},
		{"Stored", "private data that are returned"},
		{"WrongWinner", "an outcome that depends on private data"},
		{"NoiseKept", "noise that is told after the loop"},
	} {
		t.Run(trap.name, func(t *testing.T) {
			t.Parallel()
			u := all[trap.name]
			if u == nil || u.Function == nil {
				t.Fatalf("%s is not read", trap.name)
			}
			o, err := prove.Prove(t.Context(), u.Function, u.Claim, prove.Options{})
			at := (*prove.Position)(nil)
			if err != nil && !errors.As(err, &at) {
				t.Fatal(err)
			}
			if err == nil && o.Status == prove.Proved {
				t.Errorf("%s: proved", trap.why)
			}
		})
	}
}

// Noise of a scale that is not positive would have a negative cost. The front end
// writes down that its source panics; where nobody did, nothing is proved.
func TestNegativeScales(t *testing.T) {
	u := units(t, "../internal/prove/testdata/traps")["MaybeNegative"]
	unguarded := *u.Function
	unguarded.Body = slices.DeleteFunc(slices.Clone(unguarded.Body), func(s program.Statement) bool {
		_, guard := s.(program.If)
		return guard
	})
	if len(unguarded.Body) == len(u.Function.Body) {
		t.Fatal("there is no guard")
	}
	for _, f := range []*program.Function{u.Function, &unguarded} {
		if o, err := prove.Prove(t.Context(), f, u.Claim, prove.Options{}); err == nil && o.Status == prove.Proved {
			t.Errorf("proved:\n%s", program.Print(f))
		}
	}
}

// svt is the certificate of a right program, by hand.
func svt(u *source.Unit) *prove.Certificate {
	return &prove.Certificate{
		Version: 1,
		Program: prove.Hash(u.Function, u.Claim),
		Orientations: []prove.Orientation{{
			Direction: "forward",
			Alignment: []prove.Shift{{Draw: 0, Name: "laplace1", Expr: "1"}, {Draw: 1, Name: "laplace2", Expr: "cond((q[i] + laplace2) >= t, 1 - diff(q[i]), 0)"}},
			Invariants: []prove.Invariant{
				{Loop: 0, Formula: "(<= cost (* 4.0 (to_real n)))"},
				{Loop: 0, Formula: "(<= (- cost (* 2.0 (to_real count))) (* 2.0 (to_real n)))"},
			},
		}},
	}
}

// Gaussian noise is not shifted for a cost, whatever a certificate says.
func TestUnshiftedNoise(t *testing.T) {
	u := units(t, "../internal/prove/testdata/traps")["Normal"]
	c := &prove.Certificate{Version: 1, Program: prove.Hash(u.Function, u.Claim), Orientations: []prove.Orientation{{
		Direction: "forward", Alignment: []prove.Shift{{Draw: 0, Name: "gaussian1", Expr: "-diff(q[0])"}},
	}}}
	if err := prove.Check(t.Context(), u.Function, u.Claim, c); err == nil || !strings.Contains(err.Error(), "not shifted") {
		t.Errorf("the check says %v", err)
	}
}

// A certificate is believed in nothing: every change of it that matters is seen
// without its digest.
func TestCorruptedCertificates(t *testing.T) {
	all := units(t, "./right", "./wrong")
	u := all["SVT"]
	if err := prove.Check(t.Context(), u.Function, u.Claim, svt(u)); err != nil {
		t.Fatal(err)
	}
	for name, corrupt := range map[string]func(o *prove.Orientation){
		"no shift of the threshold": func(o *prove.Orientation) { o.Alignment[0].Expr = "0" },
		"a shift the other way":     func(o *prove.Orientation) { o.Alignment[0].Expr = "-1" },
		"a shift that is too far":   func(o *prove.Orientation) { o.Alignment[0].Expr = "2" },
		"no shift":                  func(o *prove.Orientation) { o.Alignment = o.Alignment[:1] },
		"a draw twice":              func(o *prove.Orientation) { o.Alignment[1].Draw = 0 },
		"a draw that is not there":  func(o *prove.Orientation) { o.Alignment[1].Draw = 2 },
		"a negative draw":           func(o *prove.Orientation) { o.Alignment[1].Draw = -1 },
		"another condition":         func(o *prove.Orientation) { o.Alignment[1].Expr = "cond((q[i] + laplace2) > t, 1 - diff(q[i]), 0)" },
		"a shift by the sample":     func(o *prove.Orientation) { o.Alignment[1].Expr = "-laplace2" },
		"a shift by the later":      func(o *prove.Orientation) { o.Alignment[0].Expr = "cond(laplace2 > 0, 1, 1 - diff(q[0]))" },
		"an unknown variable":       func(o *prove.Orientation) { o.Alignment[0].Expr = "one" },
		"no expression":             func(o *prove.Orientation) { o.Alignment[0].Expr = "1 +" },
		"Go that is no expression":  func(o *prove.Orientation) { o.Alignment[0].Expr = "func() int { return 1 }()" },
		"deep": func(o *prove.Orientation) {
			o.Alignment[0].Expr = strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000)
		},
		"no invariant":        func(o *prove.Orientation) { o.Invariants = nil },
		"one invariant":       func(o *prove.Orientation) { o.Invariants = o.Invariants[:1] },
		"the other invariant": func(o *prove.Orientation) { o.Invariants = o.Invariants[1:] },
		"an invariant that is false": func(o *prove.Orientation) {
			o.Invariants = append(o.Invariants, prove.Invariant{Loop: 0, Formula: "false"})
		},
		"of what is yet to be drawn": func(o *prove.Orientation) {
			o.Invariants = append(o.Invariants, prove.Invariant{Loop: 0, Formula: "(<= |laplace2#9| 0.0)"})
		},
		"of the next element": func(o *prove.Orientation) {
			o.Invariants = append(o.Invariants, prove.Invariant{Loop: 0, Formula: "(<= |q[]#5| 0.0)"})
		},
		"of another loop":     func(o *prove.Orientation) { o.Invariants[0].Loop = 1 },
		"a smaller bound":     func(o *prove.Orientation) { o.Invariants[0].Formula = "(<= cost (* 3.0 (to_real n)))" },
		"the other direction": func(o *prove.Orientation) { o.Direction = "backward" },
		"half of the cost":    func(o *prove.Orientation) { o.Part = "1/2" },
		"twice the cost":      func(o *prove.Orientation) { o.Part = "2" },
		"minus the cost":      func(o *prove.Orientation) { o.Part = "-1" },
	} {
		t.Run(name, func(t *testing.T) {
			c := svt(u)
			corrupt(&c.Orientations[0])
			if err := prove.Check(t.Context(), u.Function, u.Claim, c); err == nil {
				t.Error("accepted")
			}
		})
	}
	none := svt(u)
	none.Orientations = nil
	if err := prove.Check(t.Context(), u.Function, u.Claim, none); err == nil {
		t.Error("a certificate of no direction is accepted")
	}
	for _, name := range []string{"BadSVT3", "SVTLacksN", "SVTOneMore", "SVTHalfNoise", "BadGapSVT"} {
		wrong := all[name]
		c := svt(wrong)
		if err := prove.Check(t.Context(), wrong.Function, wrong.Claim, c); err == nil {
			t.Errorf("%s is proved by the certificate of SVT", name)
		}
		c.Program = prove.Hash(u.Function, u.Claim)
		if err := prove.Check(t.Context(), wrong.Function, wrong.Claim, c); !errors.Is(err, prove.ErrStale) {
			t.Errorf("%s with the certificate of another: %v", name, err)
		}
	}
}

// Whatever becomes of a stored certificate, it is rejected or it is the same.
func FuzzCertificate(f *testing.F) {
	packages, err := source.Load(f.Context(), "../../testdata", "./right")
	if err != nil {
		f.Fatal(err)
	}
	var u *source.Unit
	for _, x := range packages[0].Units {
		if x.Name == "SVT" {
			u = x
		}
	}
	text, err := svt(u).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, false)
	f.Add(text, true)
	for _, old := range []string{"forward", "cost", "1.0", "4.0", "diff", "\"draw\":1", "laplace2", ">="} {
		f.Add([]byte(strings.Replace(string(text), old, "", 1)), true)
	}
	original, err := prove.Decode(text)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, raw bool) {
		if c, err := prove.Decode(text); err == nil && !reflect.DeepEqual(c, original) {
			// Nobody forges the digest by chance.
			t.Fatalf("decoded: %s", text)
		}
		if !raw {
			return
		}
		// With a digest of its own it is text like any other; it may be another
		// proof, but no proof of what is false.
		c := &prove.Certificate{}
		if json.Unmarshal(text, c) != nil || len(text) > 4000 {
			return
		}
		c.Program = prove.Hash(u.Function, u.Claim)
		prove.Check(t.Context(), u.Function, u.Claim, c) // that it returns is the test
	})
}

// Of the elements at an index of which it is not plain that it is the same in both runs,
// only one moves: a certificate that moves nothing is none.
func TestOneElementMoves(t *testing.T) {
	u := units(t, "../internal/prove/testdata/traps")["Apart"]
	c := &prove.Certificate{Version: 1, Program: prove.Hash(u.Function, u.Claim), Orientations: []prove.Orientation{{Direction: "forward"}, {Direction: "backward"}}}
	if err := prove.Check(t.Context(), u.Function, u.Claim, c); !errors.Is(err, prove.ErrCertificate) {
		t.Errorf("accepted, or something else: %v", err)
	}
}
