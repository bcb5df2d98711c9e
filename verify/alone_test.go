package verify_test

import (
	"context"
	"encoding/json"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/verify"
	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/claim"
	"github.com/discreet-dp/discreet/verify/internal/exact"
	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/prove"
	"github.com/discreet-dp/discreet/verify/internal/rank"
	"github.com/discreet-dp/discreet/verify/internal/ratio"
	"github.com/discreet-dp/discreet/verify/internal/replay"
	"github.com/discreet-dp/discreet/verify/internal/rounds"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
	"github.com/discreet-dp/discreet/verify/internal/tally"
)

// A patience is a context that ends when it was looked at so often: provers look while they
// search. It ends at the same step whatever else the machine does.
type patience struct {
	context.Context
	looks atomic.Int64
	end   context.CancelFunc
}

func (p *patience) Err() error {
	if p.looks.Add(-1) < 0 {
		p.end()
	}
	return p.Context.Err()
}

// proofs has each prover try a claim by itself, whatever refutes it, for so many looks at its
// context: of the function, of what rewrites make of it, of one round, and of counts, in each
// other as package replay accepts them. It returns which prove it.
func proofs(ctx context.Context, f *program.Function, c *claim.Claim, looks int64) (by []string) {
	within := func(prove func(context.Context) bool) bool {
		// Between looks a solver can be asked what takes it long: that ends by the clock.
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		p := &patience{Context: ctx, end: cancel}
		p.looks.Store(looks)
		return prove(p)
	}
	if within(func(ctx context.Context) bool { _, err := ratio.Prove(ctx, f, c); return err == nil }) {
		by = append(by, replay.Ratio)
	}
	if within(func(ctx context.Context) bool {
		_, err := rank.Prove(ctx, replay.Subject(replay.Rank, f, c), c)
		return err == nil
	}) {
		by = append(by, replay.Rank)
	}
	plain := replay.Subject(replay.Alignment, f, c)
	for _, kind := range []string{replay.Alignment, replay.Shares, replay.Fused} {
		g := replay.Subject(kind, f, c)
		if kind != replay.Alignment && g == plain {
			continue
		}
		if within(func(ctx context.Context) bool {
			o, err := prove.Prove(ctx, g, c, prove.Options{})
			return err == nil && o.Status == prove.Proved
		}) {
			by = append(by, kind)
		}
	}
	if r, ok := rounds.Of(f, c); ok {
		for _, one := range proofs(ctx, r.Function, r.Claim, looks) {
			by = append(by, replay.Rounds+" of "+one)
		}
	}
	if t, ok := tally.Of(f, c); ok {
		for _, one := range proofs(ctx, t.Function, t.Claim, looks) {
			by = append(by, replay.Tally+" of "+one)
		}
	}
	return by
}

// ruled reports whether rules prove a unit by themselves.
func ruled(ctx context.Context, p *sensitivity.Program, u *source.Unit) bool {
	name := u.Info.Defs[u.Decl.Name].(*types.Func).FullName()
	return (len(u.Claim.Sensitivities) == 0 || p.Check(ctx, name, u.Claim).Proved) &&
		(u.Claim.Cost == nil || p.Cost(ctx, name, u.Claim).Ending(u.Function, u.Claim, source.TellingPanic).Proved)
}

// rules are those of packages, of which calls are followed.
func rules(loaded []*source.Package) *sensitivity.Program {
	var all []*sensitivity.Package
	for _, p := range loaded {
		all = append(all, &sensitivity.Package{Path: p.Path, Fset: p.Fset, Files: p.Files, Types: p.Types, Info: p.Info})
	}
	return sensitivity.New(all, nil)
}

// alone has each prover try each unit by itself, for so many looks, and tells which prove it.
func alone(t *testing.T, loaded []*source.Package, looks int64, chosen func(*source.Unit) bool, tell func(u *source.Unit, by []string)) {
	t.Helper()
	p := rules(loaded)
	queue := make(chan *source.Unit)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for u := range queue {
				var by []string
				if ruled(t.Context(), p, u) {
					by = append(by, "rules")
				}
				if u.Function != nil && u.Claim.Cost != nil && len(u.Claim.Sensitivities) == 0 {
					by = append(by, proofs(t.Context(), u.Function, u.Claim, looks)...)
				}
				tell(u, by)
			}
		})
	}
	for _, p := range loaded {
		for _, u := range p.Units {
			if u.Claim != nil && chosen(u) {
				queue <- u
			}
		}
	}
	close(queue)
	workers.Wait()
}

// aloneLooks is how long couplings are searched for: right programs that are proved so mostly
// are within it.
const aloneLooks = 3000

var anyWant = regexp.MustCompile(`(?m)^want: ([a-z-]+)`)

// No prover by itself proves a wrong program. In a verdict a counterexample comes before most
// of them, and hides what they would prove; where proofs are only checked, nothing does. Of
// programs that are not said to be wrong, or right, those that are proved are searched for
// counterexamples. A sixteenth of all is run, and those with half of the noise: they are proved
// where twice the claimed cost is allowed.
func TestProversAlone(t *testing.T) {
	needSolver(t)
	dirs := []string{}
	for _, folder := range slices.Concat(folders, []string{"trusted", "hand"}) {
		dirs = append(dirs, "./testdata/"+folder)
	}
	for _, folder := range []string{"absorb", "fuse", "prove", "ratio", "rounds", "tally", "sensitivity"} {
		all, err := filepath.Glob("internal/" + folder + "/testdata/*/*.go")
		if err != nil || len(all) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range all {
			dirs = append(dirs, "./"+filepath.Dir(file))
		}
	}
	dirs = append(dirs, "./internal/source/testdata/panics", "./internal/sensitivity/testdata/attack/memory")
	loaded, err := source.Load(t.Context(), "", slices.Compact(dirs)...)
	if err != nil {
		t.Fatal(err)
	}
	want := func(u *source.Unit) string {
		if m := anyWant.FindStringSubmatch(u.Decl.Doc.Text()); m != nil {
			return m[1]
		}
		return ""
	}
	var telling sync.Mutex
	wrong, searched := 0, 0
	alone(t, loaded, aloneLooks, func(u *source.Unit) bool {
		w := want(u)
		return w != "proved" && w != "accepted" && (sampled(u.Name, 16) || strings.Contains(u.Name, "HalfNoise"))
	}, func(u *source.Unit, by []string) {
		refuted := want(u) == "refuted"
		if !refuted && len(by) > 0 && u.Function != nil && u.Claim.Cost != nil {
			x, _, err := exact.Refute(t.Context(), u.Function, u.Claim, nil, exact.Search{Budget: 50, Workers: 1})
			refuted = err == nil && x != nil
		}
		telling.Lock()
		defer telling.Unlock()
		switch {
		case refuted && len(by) > 0:
			t.Errorf("%s of %s is wrong, and proved by %s", u.Name, u.Package.Path(), strings.Join(by, ", "))
		case refuted:
			wrong++
		case len(by) > 0:
			searched++
		}
	})
	t.Logf("%d wrong programs are not proved; of %d proofs no counterexample was found", wrong, searched)
	if wrong < 12 || searched < 1 {
		t.Errorf("%d wrong programs, and %d proofs of others", wrong, searched)
	}
}

// The mutants that are refuted are proved by no prover alone, and not by what proves the
// function that they are made of: of these a share is given to each prover here, or those of
// whose rows DISCREET_REFUTED matches something.
func TestRefutedMutantsAlone(t *testing.T) {
	needSolver(t)
	rows, hash := readTable(t, mutantTable)
	which, all := os.LookupEnv("DISCREET_REFUTED")
	only, err := regexp.Compile(which)
	if err != nil {
		t.Fatal(err)
	}
	var looks int64 = aloneLooks
	if all {
		looks *= 40
	}
	const share = 96
	refuted, sample := map[string]bool{}, map[string]bool{}
	for i, r := range rows {
		if r.verdict == verify.Refuted || r.verdict == verify.RefutedStatistical {
			refuted[r.key()] = true
			sample[r.key()] = all && only.MatchString(r.String()) || !all && (uint64(i)+hash)%share == 0
		}
	}
	carried := 0
	for _, folder := range mutated {
		key := func(m mutant) string { return folder + "." + m.Function + "\t" + m.Change }
		mutants := mutantsOf(t, folder)
		a := mutants.added(func(_ string, m mutant) bool { return refuted[key(m)] }, "one")
		loaded, err := source.Load(t.Context(), mutants.module(t, a), "./one")
		if err != nil {
			t.Fatal(err)
		}
		stored, err := certificate.Read(map[bool]string{true: "../" + shipped, false: "testdata/" + folder}[folder == shipped])
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range loaded[0].Units {
			e := stored[a.names[u.Name].Function]
			if u.Claim == nil || u.Function == nil || e == nil {
				continue
			}
			proof, ok := carry(t, u.Function, u.Claim, e.Kind, e.Proof)
			if !ok {
				continue
			}
			carried++
			if replay.Check(t.Context(), u.Function, u.Claim, &certificate.Entry{Program: replay.Hash(u.Function, u.Claim), Kind: e.Kind, Proof: proof}) == nil {
				t.Errorf("%s is refuted, and proved by the certificate of what it is made of", key(a.names[u.Name]))
			}
		}
		alone(t, loaded, looks, func(u *source.Unit) bool { return sample[key(a.names[u.Name])] }, func(u *source.Unit, by []string) {
			if len(by) > 0 {
				t.Errorf("%s is refuted, and proved by %s", key(a.names[u.Name]), strings.Join(by, ", "))
			}
		})
	}
	t.Logf("%d certificates prove no mutant", carried)
	if carried < 100 {
		t.Errorf("%d certificates", carried)
	}
}

// carry makes a stored proof one of another function: what it shows is left to the checker. It
// reports false where the function is of another form.
func carry(t *testing.T, f *program.Function, c *claim.Claim, kind string, proof json.RawMessage) (json.RawMessage, bool) {
	t.Helper()
	within := func(f *program.Function, c *claim.Claim) (json.RawMessage, bool) {
		var one replay.Round
		if err := json.Unmarshal(proof, &one); err != nil {
			t.Fatal(err)
		}
		var ok bool
		if one.Proof, ok = carry(t, f, c, one.Kind, one.Proof); !ok {
			return nil, false
		}
		text, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		return text, true
	}
	switch kind {
	case replay.Alignment, replay.Fused, replay.Shares:
		decoded, err := prove.Decode(proof)
		if err != nil {
			t.Fatal(err)
		}
		decoded.Program = prove.Hash(replay.Subject(kind, f, c), c)
		text, err := decoded.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text, true
	case replay.Rounds:
		if r, ok := rounds.Of(f, c); ok {
			return within(r.Function, r.Claim)
		}
		return nil, false
	case replay.Tally:
		if r, ok := tally.Of(f, c); ok {
			return within(r.Function, r.Claim)
		}
		return nil, false
	}
	return proof, true
}
