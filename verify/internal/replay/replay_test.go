package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

const pick = `package p

import "github.com/discreet-dp/discreet/noise"

//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func Pick(scores []float64, eps float64, src *noise.Source) int {
	if len(scores) == 0 {
		return -1
	}
	return src.Choose(scores, eps)
}
`

// A reader keeps what packages it has imported.
type reader struct {
	fset     *token.FileSet
	importer types.Importer
}

var shared = sync.OnceValue(func() *reader {
	// A test that was built with -trimpath does not know where Go is.
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	fset := token.NewFileSet()
	return &reader{fset, importer.ForCompiler(fset, "source", nil)}
})

// read lowers the one function of a source.
func (r *reader) read(t *testing.T, text string) *source.Unit {
	t.Helper()
	fset := r.fset
	file, err := parser.ParseFile(fset, "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{}, Instances: map[*ast.Ident]types.Instance{}}
	config := types.Config{Importer: r.importer}
	pkg, err := config.Check("example.org/p", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	units, strays := source.Lower(fset, []*ast.File{file}, pkg, info)
	if len(units) != 1 || units[0].Function == nil || units[0].Claim == nil {
		t.Fatalf("%d units, %v, %v", len(units), strays, units[0].Refusals)
	}
	return units[0]
}

// stored proves a function and stores the proof.
func stored(t *testing.T, u *source.Unit) *certificate.Entry {
	t.Helper()
	o, err := ratio.Prove(t.Context(), u.Function, u.Claim)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := json.Marshal(o.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	return &certificate.Entry{Program: replay.Hash(u.Function, u.Claim), Kind: replay.Ratio, Proof: proof}
}

func TestCheck(t *testing.T) {
	r := shared()
	u := r.read(t, pick)
	e := stored(t, u)
	if err := replay.Check(t.Context(), u.Function, u.Claim, e); err != nil {
		t.Error(err)
	}
	if err := replay.Check(t.Context(), u.Function, u.Claim, nil); !errors.Is(err, replay.ErrMissing) {
		t.Errorf("nothing stored: %v", err)
	}
	for what, damage := range map[string]func(e *certificate.Entry){
		"another kind":   func(e *certificate.Entry) { e.Kind = "oracle" },
		"no proof":       func(e *certificate.Entry) { e.Proof = json.RawMessage("7") },
		"an empty proof": func(e *certificate.Entry) { e.Proof = json.RawMessage("{}") },
	} {
		wrong := *e
		damage(&wrong)
		if err := replay.Check(t.Context(), u.Function, u.Claim, &wrong); !errors.Is(err, replay.ErrWrong) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A hash is of what the function does and claims, wherever it stands.
func TestHash(t *testing.T) {
	r := shared()
	hash := func(text string) string { u := r.read(t, text); return replay.Hash(u.Function, u.Claim) }
	want := hash(pick)
	for _, same := range []string{
		strings.Replace(pick, "package p\n", "package p\n\n\n// Moved.\n", 1),
		strings.Replace(pick, "//dp:adj", "// Pick.\n//\n//dp:adj", 1),
	} {
		if hash(same) != want {
			t.Errorf("another hash for\n%s", same)
		}
	}
	seen := map[string]bool{want: true}
	for _, edit := range [][2]string{{"return -1", "return -2"}, {", eps)", ", eps/2)"}, {"cost eps", "cost 2*eps"}, {"<= 1", "<= 2"}, {"each(", "one("}, {"eps > 0", "eps > 1"}} {
		h := hash(strings.Replace(pick, edit[0], edit[1], 1))
		if seen[h] {
			t.Errorf("%s for %s makes no other hash", edit[1], edit[0])
		}
		seen[h] = true
	}
}

// A proof of what the function was is stale, even where it would still be right.
func TestStale(t *testing.T) {
	r := shared()
	e := stored(t, r.read(t, pick))
	u := r.read(t, strings.Replace(pick, "cost eps", "cost 2*eps", 1))
	if err := replay.Check(t.Context(), u.Function, u.Claim, e); !errors.Is(err, replay.ErrStale) {
		t.Errorf("%v", err)
	}
	// Whoever writes the new hash beside the old proof gains nothing.
	u = r.read(t, strings.Replace(pick, "cost eps", "cost eps/2", 1))
	e.Program = replay.Hash(u.Function, u.Claim)
	if err := replay.Check(t.Context(), u.Function, u.Claim, e); !errors.Is(err, replay.ErrWrong) {
		t.Errorf("%v", err)
	}
}

// A proof of one round is a proof of the loop; one of another loop's round, one for a
// function without rounds, and one that was damaged are none.
func TestRounds(t *testing.T) {
	entries, err := certificate.Read("../../testdata/fresh")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := source.Load(t.Context(), "", "../../testdata/fresh")
	if err != nil {
		t.Fatal(err)
	}
	units := map[string]*source.Unit{}
	for _, u := range packages[0].Units {
		if u.Function != nil {
			units[u.Name] = u
		}
	}
	check := func(name string, e *certificate.Entry) error {
		u := units[name]
		c := *e
		c.Program = replay.Hash(u.Function, u.Claim)
		return replay.Check(t.Context(), u.Function, u.Claim, &c)
	}
	peel := entries["PeelTop"]
	if peel == nil || peel.Kind != replay.Rounds {
		t.Fatalf("PeelTop: %v", peel)
	}
	for name := range units {
		if err := check(name, peel); (err == nil) != (name == "PeelTop") || err != nil && !errors.Is(err, replay.ErrWrong) {
			t.Errorf("PeelTop's proof for %s: %v", name, err)
		}
	}
	var round replay.Round
	if err := json.Unmarshal(peel.Proof, &round); err != nil {
		t.Fatal(err)
	}
	for what, wrong := range map[string]string{
		"of no kind":         `{"kind": "", "proof": {}}`,
		"of another kind":    `{"kind": "ratio", "proof": ` + string(round.Proof) + `}`,
		"of rounds of it":    `{"kind": "rounds", "proof": ` + string(peel.Proof) + `}`,
		"without proof":      `{"kind": "alignment"}`,
		"of the whole":       string(round.Proof),
		"no proof of a kind": `7`,
	} {
		e := *peel
		e.Proof = json.RawMessage(wrong)
		if err := check("PeelTop", &e); !errors.Is(err, replay.ErrWrong) {
			t.Errorf("a proof %s: %v", what, err)
		}
	}
}

// A proof by the order of noisy values is one for functions alone that the rule proves so.
func TestRank(t *testing.T) {
	entries, err := certificate.Read("../../testdata/fresh")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := source.Load(t.Context(), "", "../../testdata/fresh")
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, e certificate.Entry) error {
		for _, u := range packages[0].Units {
			if u.Name == name {
				e.Program = replay.Hash(u.Function, u.Claim)
				return replay.Check(t.Context(), u.Function, u.Claim, &e)
			}
		}
		return errors.New("there is no " + name)
	}
	gap := entries["GapMax"]
	if gap == nil || gap.Kind != replay.Rank {
		t.Fatalf("GapMax: %v", gap)
	}
	if err := check("GapMax", *gap); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"TopTwo", "NoisyMin", "GapBothWays", "GapForgetsBest", "GapToEarlier", "GapToRaw", "GapWithValue", "GapOneNoise", "PeelTop"} {
		if err := check(name, *gap); !errors.Is(err, replay.ErrWrong) {
			t.Errorf("GapMax's proof for %s: %v", name, err)
		}
	}
	for _, edit := range [][2]string{{`"winners":1`, `"winners":2`}, {`"cost":"eps"`, `"cost":"eps/2"`}, {"the result is a function of", "the result is"}} {
		e := *gap
		var text bytes.Buffer
		if err := json.Compact(&text, gap.Proof); err != nil {
			t.Fatal(err)
		}
		e.Proof = json.RawMessage(strings.Replace(text.String(), edit[0], edit[1], 1))
		if err := check("GapMax", e); !errors.Is(err, replay.ErrWrong) || text.String() == string(e.Proof) {
			t.Errorf("%s for %s: %v", edit[1], edit[0], err)
		}
	}
}
