package learn

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/budget/durable"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/internal/container"
	"github.com/discreet-dp/discreet/learn/internal/gaussian"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func domain(epsilon string) ledger.DomainBudget {
	return ledger.DomainBudget{ID: "people", Measure: filter.Approx, Epsilon: must(privacy.ParseEpsilon(epsilon)), Delta: must(privacy.ParseDelta("1e-3"))}
}

// books is a ledger with one domain.
func books(t *testing.T, epsilon string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Create(ctx, filepath.Join(t.TempDir(), "ledger"), ledger.Options{Domains: []ledger.DomainBudget{domain(epsilon)}, Now: clock()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Verify(ctx); err != nil {
			t.Error(err)
		}
		l.Close()
	})
	return l
}

func account(l *ledger.Ledger) budget.Budget {
	return must(durable.New(ctx, l, durable.Options{Domain: "people", Analyst: "ada", Now: clock}))
}

// charges are what was charged in a ledger, as events, the first first.
func charges(l *ledger.Ledger) (events []string) {
	for _, e := range must(l.History(ctx)) {
		if e.Kind == "reserve" && len(e.Events) > 0 {
			events = append(events, privacy.Sum{Events: e.Events}.String())
		}
	}
	return events
}

// paid is what one run of a plan, from a step on, is charged with.
// The run has the network of lasting, and its noise is fast.
func paid(p Plan, b budget.Budget, from int) string {
	whole := must(p.charge(ctx, b.Filter(), from, ""))
	d := len(must(network.New(mlp(4))).Parameters())
	slip := must(slipOf(must(converted(whole, b.Filter())).Float64(), gaussian.Distance(float64((d+1)*p.Steps))))
	return privacy.Sum{Events: []privacy.Event{whole, privacy.Approx{Delta: slip}}}.String()
}

// lasting is a run that has everything to save.
func lasting(path string, b budget.Budget) Options {
	p := small()
	p.Steps, p.Noise.Multiplier = 12, 3
	p.Optimizer = optimizer.Spec{Kind: optimizer.Adam, Rate: 0.01, Schedule: optimizer.Schedule{Shape: optimizer.Cosine}}
	p.Clip = Clip{Mode: Adaptive, Norm: 1, Quantile: 0.5}
	p.Noise.Schedule = stairs(5, 0.9)
	return Options{Plan: p, Network: mlp(4), Data: circles(1000, 1), Budget: b, Statement: "learn a circle", Checkpoint: path, Every: 3}
}

func start(t *testing.T, o Options) *Run {
	t.Helper()
	r, err := Start(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// again resumes with what a program has that was started anew.
func again(t *testing.T, path string, b budget.Budget) *Run {
	t.Helper()
	r, err := Resume(ctx, path, Options{Data: circles(1000, 1), Budget: b})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func steps(t *testing.T, r *Run, n int) {
	t.Helper()
	for range n {
		if err := r.Step(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	if err := os.WriteFile(to, must(os.ReadFile(from)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A run that is given up and resumed, again and again, spends exactly what one that is
// not does, and goes on from exactly where its last checkpoint was.
func TestResume(t *testing.T) {
	straight, broken := books(t, "100"), books(t, "100")
	path := filepath.Join(t.TempDir(), "checkpoint")
	o := lasting(path, account(straight))
	if err := start(t, o).Train(ctx); err != nil {
		t.Fatal(err)
	}
	path += "-broken"
	o.Checkpoint, o.Budget = path, account(broken)
	r := start(t, o)
	state := r.save()
	for _, n := range []int{0, 1, 3, 2, 4, 3} { // steps, of which those since the last third are lost
		before := r.save()
		if before.Step%3 == 0 {
			state = before
		}
		r = again(t, path, account(broken))
		got := r.save()
		if got.Step != state.Step || got.Clip != state.Clip || !slices.Equal(got.parameters, state.parameters) || !reflect.DeepEqual(got.optimizer, state.optimizer) {
			t.Fatalf("resumed at step %d with another state than at step %d", got.Step, state.Step)
		}
		if r.Charged() != "" {
			t.Errorf("resuming at step %d charged %s", got.Step, r.Charged())
		}
		for range n {
			steps(t, r, 1)
			if r.Done()%3 == 0 {
				state = r.save()
			}
		}
	}
	if err := again(t, path, account(broken)).Train(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{paid(o.Plan, o.Budget, 0)}
	if got := charges(straight); !slices.Equal(got, want) {
		t.Errorf("straight: %v, not %v", got, want)
	}
	if got := charges(broken); !slices.Equal(got, want) {
		t.Errorf("broken off and resumed: %v, not %v", got, want)
	}
	// A finished run gives its model, as often as asked.
	r = again(t, path, account(broken))
	if _, err := r.Model(ctx, ModelOptions{Date: clock()}); err != nil || r.Charged() != "" {
		t.Error(err, r.Charged())
	}
}

// A second continuation of one checkpoint pays for the steps from it on, or is refused.
func TestSecondContinuationPays(t *testing.T) {
	l := books(t, "100")
	dir := t.TempDir()
	path, other := filepath.Join(dir, "checkpoint"), filepath.Join(dir, "copy")
	o := lasting(path, account(l))
	r := start(t, o)
	steps(t, r, 6)
	copyFile(t, path, other)
	steps(t, r, 3) // and a checkpoint
	second := again(t, other, account(l))
	want := []string{paid(o.Plan, o.Budget, 0), paid(o.Plan, o.Budget, 6)}
	if got := charges(l); !slices.Equal(got, want) || second.Charged() != want[1] || second.Done() != 6 {
		t.Errorf("after a copy was resumed: %v, not %v", got, want)
	}
	// From here on it is a run of its own, which resumes for nothing; so does the first.
	steps(t, second, 3)
	if err := again(t, other, account(l)).Train(ctx); err != nil {
		t.Error(err)
	}
	if err := r.Train(ctx); err != nil {
		t.Error(err)
	}
	if got := charges(l); !slices.Equal(got, want) {
		t.Errorf("after both were resumed: %v, not %v", got, want)
	}
	m, err := again(t, other, account(l)).Model(ctx, ModelOptions{Date: clock()})
	if err != nil || m.Certificate.Ledger.From != 6 || m.Certificate.Ledger.Charged != want[1] {
		t.Errorf("%+v, %v", m, err)
	}

	// The same with a budget that suffices for one run.
	o.Plan.Noise.Multiplier = 3
	total := must(o.Plan.Guarantee()).Epsilon
	tight := books(t, must(privacy.EpsilonFromFloat(total*1.2)).String())
	o.Checkpoint, o.Budget = filepath.Join(dir, "tight"), account(tight)
	r = start(t, o)
	steps(t, r, 3)
	copyFile(t, o.Checkpoint, other)
	steps(t, r, 3)
	if r, err := Resume(ctx, other, Options{Data: o.Data, Budget: o.Budget}); !errors.Is(err, budget.ErrExceeded) || r != nil {
		t.Errorf("a second continuation that cannot be paid for: %v", err)
	}
	if got := charges(tight); len(got) != 1 {
		t.Errorf("a refusal was charged: %v", got)
	}
	if err := r.Train(ctx); err != nil {
		t.Error(err)
	}
}

// Two processes that go on from one checkpoint at once: the first to release something
// has it for nothing, the other pays when it wants to release.
func TestContinuationsAtOnce(t *testing.T) {
	for _, epsilon := range []string{"100", "tight"} {
		dir := t.TempDir()
		path, other := filepath.Join(dir, "checkpoint"), filepath.Join(dir, "copy")
		o := lasting(path, nil)
		if epsilon == "tight" {
			epsilon = must(privacy.EpsilonFromFloat(must(o.Plan.Guarantee()).Epsilon * 1.2)).String()
		}
		l := books(t, epsilon)
		o.Budget = account(l)
		r := start(t, o)
		steps(t, r, 3)
		copyFile(t, path, other)
		first, second := again(t, path, account(l)), again(t, other, account(l))
		steps(t, first, 2)
		steps(t, second, 2)
		if got := charges(l); len(got) != 1 {
			t.Fatalf("before either has released anything: %v", got)
		}
		if err := first.Save(ctx); err != nil {
			t.Fatal(err)
		}
		err := second.Save(ctx)
		want := []string{paid(o.Plan, o.Budget, 0), paid(o.Plan, o.Budget, 3)}
		if epsilon == "100" {
			if got := charges(l); err != nil || !slices.Equal(got, want) || second.Charged() != want[1] {
				t.Errorf("the second release: %v, %v", got, err)
			}
			if r := again(t, other, account(l)); r.Done() != 5 || r.Charged() != "" {
				t.Errorf("the second run resumes at step %d, charged %q", r.Done(), r.Charged())
			}
			continue
		}
		if !errors.Is(err, budget.ErrExceeded) || len(charges(l)) != 1 {
			t.Errorf("a second release that cannot be paid for: %v", err)
		}
		if err := second.Step(ctx); err == nil {
			t.Error("a run goes on that was refused")
		}
		if left := must(filepath.Glob(other + ".next-*")); left != nil {
			t.Errorf("what was refused lies in %v", left)
		}
	}
}

// Whatever a crash leaves between the file, the ledger and the file's name, the run
// goes on, and has been paid for once.
func TestCrashBetweenLedgerAndFile(t *testing.T) {
	l := books(t, "100")
	path := filepath.Join(t.TempDir(), "checkpoint")
	o := lasting(path, account(l))
	// At the start: charged and registered, and not renamed.
	r := start(t, o)
	pending := r.chain.pending(path)
	if err := os.Rename(path, pending); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(ctx, o); err == nil {
		t.Error("a start anew, beside what was paid for")
	}
	if err := os.Rename(path, pending); err != nil { // where Start has put it
		t.Fatal(err)
	}
	r = again(t, path, account(l))
	// In the middle: the file has the name that it had before, and the older state.
	copyFile(t, path, path+".old")
	steps(t, r, 3)
	state := must(os.ReadFile(path))
	if err := errors.Join(os.Rename(path, r.chain.pending(path)), os.Rename(path+".old", path)); err != nil {
		t.Fatal(err)
	}
	r = again(t, path, account(l))
	if r.Done() != 3 || !slices.Equal(must(os.ReadFile(path)), state) {
		t.Errorf("resumed at step %d", r.Done())
	}
	// Written, but neither registered nor renamed: as if it had not been.
	steps(t, r, 1)
	c := r.save()
	c.Number++
	if err := os.WriteFile(path+".next-0123456789abcdef", must(c.encode()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".next-0123456789abcdee", state[:100], 0o600); err != nil {
		t.Fatal(err)
	}
	r = again(t, path, account(l))
	if r.Done() != 3 || r.Charged() != "" {
		t.Errorf("resumed at step %d, charged %q", r.Done(), r.Charged())
	}
	if err := r.Train(ctx); err != nil {
		t.Fatal(err)
	}
	if got := charges(l); len(got) != 1 {
		t.Errorf("charged %v", got)
	}
	// In a fork: paid and registered, and not renamed.
	copyFile(t, path, path+".old")
	fork := filepath.Join(filepath.Dir(path), "fork")
	o.Checkpoint = fork
	r = start(t, o)
	copyFile(t, fork, fork+".old")
	steps(t, r, 3)
	if err := os.Rename(fork+".old", fork); err != nil { // the owner goes back
		t.Fatal(err)
	}
	copyFile(t, fork, fork+".old")
	r = again(t, fork, account(l))
	if len(charges(l)) != 3 {
		t.Fatalf("charged %v", charges(l))
	}
	if err := errors.Join(os.Rename(fork, r.chain.pending(fork)), os.Rename(fork+".old", fork)); err != nil {
		t.Fatal(err)
	}
	if r = again(t, fork, account(l)); r.Charged() != "" || len(charges(l)) != 3 {
		t.Errorf("a fork whose crash is resumed: charged %v", charges(l))
	}
}

// A run that starts or goes on sweeps what killed ones left beside its checkpoint, and
// nothing that somebody could go on from, or has open.
func TestSweptCheckpoints(t *testing.T) {
	l, other := books(t, "100"), books(t, "100")
	dir := t.TempDir()
	path := filepath.Join(dir, "run")
	o := lasting(path, account(l))
	put := func(name string, c *checkpoint) string {
		t.Helper()
		data := must(c.encode())
		if name == "" {
			name = c.pending(path)
		}
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	left := func() (names []string) {
		for _, e := range must(os.ReadDir(dir)) {
			if e.Name() != "run" {
				names = append(names, e.Name())
			}
		}
		return names
	}

	// A start that was killed before it paid is made again. One of another plan may have
	// been paid for elsewhere.
	o.Checkpoint = filepath.Join(t.TempDir(), "elsewhere")
	o.Budget = account(other)
	first := start(t, o).save()
	put("", first)
	foreign := *first
	foreign.Plan.Steps++
	kept := filepath.Base(put("", &foreign))
	cut := path + ".next-0123456789abcdef.part-77"
	if err := os.WriteFile(cut, []byte("discreet checkpo"), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := path + ".next-notes"
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{kept, "run.next-notes"}
	o.Checkpoint, o.Budget = path, account(l)
	r := start(t, o)
	if got := left(); !slices.Equal(got, want) {
		t.Errorf("after the start: %q, want %q", got, want)
	}

	// In the middle: written and not registered; registered and superseded, as a copy that
	// somebody made; of a fork that did not pay. What another process holds stays, until
	// it is gone.
	released := must(decodeCheckpoint(must(os.ReadFile(path))))
	steps(t, r, 3)
	next := r.save()
	next.Number++
	put("", next)
	put("", released)
	fork := r.save()
	fork.Run, fork.Number, fork.Parent = "fork", 0, r.chain.digest.String()
	put("", fork)
	another := r.save()
	another.Number++
	another.Clip *= 2
	data := must(another.encode()) // after which its digest is known
	held, err := container.Hold(another.pending(path), data, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	again(t, path, account(l))
	if got := left(); !slices.Equal(got, slices.Sorted(slices.Values(append(want, filepath.Base(another.pending(path)))))) {
		t.Errorf("while another process writes: %q", got)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	again(t, path, account(l))
	if got := left(); !slices.Equal(got, want) {
		t.Errorf("after it is gone: %q, want %q", got, want)
	}
	// The last of a chain, which the crash kept from its place, is gone on from, not swept.
	if err := os.Rename(path, r.chain.pending(path)); err != nil {
		t.Fatal(err)
	}
	put(path, released)
	if r = again(t, path, account(l)); r.Done() != 3 {
		t.Errorf("resumed at step %d", r.Done())
	}
	if len(charges(l)) != 1 {
		t.Errorf("charged %v", charges(l))
	}
}

// Checkpoints of other ledgers, changed ones, and other plans are refused.
func TestResumeRefusals(t *testing.T) {
	l := books(t, "100")
	path := filepath.Join(t.TempDir(), "checkpoint")
	o := lasting(path, account(l))
	steps(t, start(t, o), 3)
	if _, err := Start(ctx, o); err == nil {
		t.Error("a start over a checkpoint")
	}
	if _, err := Resume(ctx, path, Options{Data: o.Data, Budget: account(books(t, "100"))}); !errors.Is(err, ErrUnknownCheckpoint) {
		t.Errorf("another ledger: %v", err)
	}
	if _, err := Resume(ctx, path, Options{Data: o.Data, Budget: purse(t, filter.Approx, "100", privacy.AddRemove)}); err == nil {
		t.Error("a budget in memory")
	}
	if _, err := Resume(ctx, path+"-no", Options{Data: o.Data, Budget: o.Budget}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	for name, change := range map[string]func(*Options){
		"plan":      func(o *Options) { o.Plan.Steps++ },
		"network":   func(o *Options) { o.Network = mlp(5) },
		"statement": func(o *Options) { o.Statement = "another" },
		// A zero that was written is no plan that was left out.
		"batch":  func(o *Options) { o.Plan.Batch = 0 },
		"layers": func(o *Options) { o.Network.Layers = nil },
	} {
		c := o
		change(&c)
		if _, err := Resume(ctx, path, c); err == nil {
			t.Errorf("another %s", name)
		}
	}
	// What nobody registered, though it is well formed.
	c := must(decodeCheckpoint(must(os.ReadFile(path))))
	c.parameters[0]++
	if err := os.WriteFile(path+"-forged", must(c.encode()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(ctx, path+"-forged", Options{Data: o.Data, Budget: o.Budget}); !errors.Is(err, ErrUnknownCheckpoint) {
		t.Errorf("a forged checkpoint: %v", err)
	}
	// A plan that no run has, under a checksum that is right.
	for name, spoil := range map[string]func(*Plan){
		"no plan": func(p *Plan) { *p = Plan{} }, "no batch": func(p *Plan) { p.Batch = 0 }, "no noise": func(p *Plan) { p.Noise.Multiplier = 0 },
	} {
		spoiled := *c
		spoiled.Step, spoiled.Number = 0, 0
		spoil(&spoiled.Plan)
		if _, err := decodeCheckpoint(must(spoiled.encode())); !errors.Is(err, ErrCorrupted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	data := must(os.ReadFile(path))
	for i := range data {
		data[i] ^= 1
		if _, err := decodeCheckpoint(data); err == nil {
			t.Fatalf("bit of byte %d changed: not seen", i)
		}
		data[i] ^= 1
		if _, err := decodeCheckpoint(data[:i]); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrCorrupted) {
			t.Fatalf("%d of %d bytes: %v", i, len(data), err)
		}
	}
}
