package learn

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/privacy"
)

// Options say what is trained, on what, and who pays.
type Options struct {
	Plan    Plan
	Network network.Spec
	Data    *example.Set
	Budget  budget.Budget // pays for the whole plan at the start; with a Checkpoint it is a Register
	// Statement says what is trained, for the owner's history. It holds nothing private.
	Statement string

	// Seed is of the initial weights, which protect nobody. Initial are used instead
	// if they are set, such as those of a public model: nothing of this data may be in
	// them that was not charged.
	Seed    uint64
	Initial []float32

	// Checkpoint is the path of a file that holds the run's state, from its start on; empty: a run
	// that cannot be continued after a crash. Every is the number of steps between two of its
	// states; 0: only the first and the last.
	Checkpoint string
	Every      int

	// Workers is the number of goroutines; 0: one a processor.
	Workers int
	// Progress is told after each step; nil: nobody is.
	Progress func(Progress)
}

// A Run is the execution of a plan that was paid for. It is not safe for concurrent use.
type Run struct {
	options   Options
	trainer   *trainer
	spending  *spending
	watch     *watch
	whole     []privacy.Event // what all steps are charged
	draws     float64         // of noise, in all
	slip      privacy.Delta   // what the fast sampler adds to delta, as it is charged
	guarantee Guarantee

	chain   checkpoint // the header of the last checkpoint
	lease   Register   // nil without checkpoints
	saved   int        // steps that the last checkpoint has; -1: none yet
	charged string     // what this process's Start or Resume has charged, as an event
	failed  error
}

// Check refuses what Start would refuse of all but the data: what can be known before a unit
// is counted. It charges nothing, and looks at no data.
func Check(o Options) (err error) {
	defer wrap(&err, "check training")
	o.Data, o.Checkpoint, o.Every = nil, "", 0
	_, err = prepare(o)
	return err
}

var errNoData = errors.New("the data are missing")

// prepare makes a run that nobody has paid for yet; without data one that is of no use.
func prepare(o Options) (*Run, error) {
	if err := o.Plan.Validate(); err != nil {
		return nil, err
	}
	switch {
	case o.Budget == nil:
		return nil, errors.New("the budget is missing")
	case o.Every < 0 || o.Workers < 0:
		return nil, fmt.Errorf("%d steps between checkpoints, %d workers", o.Every, o.Workers)
	case o.Every > 0 && o.Checkpoint == "":
		return nil, errors.New("steps between checkpoints, but no path for them")
	case o.Budget.Neighbours() != o.Plan.Neighbours:
		return nil, fmt.Errorf("the plan is for %v, and the budget %q for %v", o.Plan.Neighbours, o.Budget.Name(), o.Budget.Neighbours())
	}
	lease, ok := o.Budget.(Register)
	if !ok {
		lease = nil
		if o.Checkpoint != "" {
			return nil, fmt.Errorf("the budget %q does not keep what checkpoints need: it must be a domain of a ledger", o.Budget.Name())
		}
	}
	if o.Checkpoint == "" {
		lease = nil
	}
	net, err := network.New(o.Network)
	if err != nil {
		return nil, err
	}
	r := &Run{options: o, lease: lease, saved: -1, watch: newWatch(o.Plan), draws: float64(len(net.Parameters())+1) * float64(o.Plan.Steps)}
	// Check the plan and the data first.
	if r.trainer, err = newTrainer(o.Plan, o.Data, net, o.Workers); err != nil {
		return nil, err
	}
	r.whole, err = r.charges(0)
	if errors.Is(err, ErrLimit) && o.Plan.Noise.Sampler == "" {
		o.Plan.Noise.Sampler = Exact
		r.options.Plan = o.Plan
		if r.trainer, err = newTrainer(o.Plan, o.Data, net, o.Workers); err != nil {
			return nil, err
		}
		r.whole, err = r.charges(0)
	}
	if err != nil {
		return nil, err
	}
	if r.guarantee, err = r.promise(); err != nil {
		return nil, err
	}
	if r.spending, err = o.Plan.spending(); err != nil {
		return nil, err
	}
	return r, nil
}

// Start pays for a plan and returns its run, before the first step. With a Checkpoint
// it refuses a path that holds one: that is for Resume.
//
// The whole plan is charged, as one event (see accountant.Guarantee); a refusal
// charges nothing and wraps budget.ErrExceeded.
func Start(ctx context.Context, o Options) (_ *Run, err error) {
	defer wrap(&err, "start training")
	if o.Data == nil {
		return nil, errNoData
	}
	r, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if r.lease != nil {
		// The search also finds a paid checkpoint that a crash left under its temporary name.
		if _, _, err := findCheckpoint(ctx, r.lease, o.Checkpoint); !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("%s exists already: resume it, or name another", o.Checkpoint), err)
		}
	}
	if r.trainer.net.Initialize(o.Seed); o.Initial != nil {
		if len(o.Initial) != len(r.trainer.net.Parameters()) {
			return nil, fmt.Errorf("%d initial weights for %d parameters", len(o.Initial), len(r.trainer.net.Parameters()))
		}
		copy(r.trainer.net.Parameters(), o.Initial)
	}
	if err := r.pay(ctx, 0, ""); err != nil {
		return nil, err // no run is returned: unpaid steps are impossible
	}
	if r.lease != nil {
		r.chain.sweep(ctx, r.lease, o.Checkpoint)
	}
	return r, nil
}

// Resume continues the run of a checkpoint. The options may leave out its Plan, Network, Statement
// and Every; all but Every must be the same if they are given. Data must be those of the run: its
// guarantee depends on that. Seed and Initial have no use.
//
// It costs nothing if the checkpoint is the last that the run has released, as after a
// crash. If others went on from it and have released something, the steps from it on
// are charged again; see Charged.
func Resume(ctx context.Context, path string, o Options) (_ *Run, err error) {
	defer wrap(&err, "resume training")
	lease, ok := o.Budget.(Register)
	if !ok {
		return nil, errors.New("the budget does not keep what checkpoints need: it must be a domain of a ledger")
	}
	c, continued, err := findCheckpoint(ctx, lease, path)
	if err != nil {
		return nil, err
	}
	if o.Plan.Noise.Sampler == "" { // it was chosen when the run began
		if none, err := equal(o.Plan, Plan{}); err == nil && !none {
			o.Plan.Noise.Sampler = c.Plan.Noise.Sampler
		}
	}
	for _, part := range []struct {
		name               string
		have, none, expect any
	}{
		{"plan", o.Plan, Plan{}, c.Plan},
		{"network", o.Network, network.Spec{}, c.Network},
		{"statement", o.Statement, "", c.Statement},
	} {
		// A part is left out if none of its fields is set: a plan with only Batch 0 is not.
		if out, err := equal(part.have, part.none); out && err == nil {
			continue
		}
		if same, err := equal(part.have, part.expect); err != nil || !same {
			return nil, errors.Join(fmt.Errorf("the %s is not the checkpoint's", part.name), err)
		}
	}
	o.Plan, o.Network, o.Statement, o.Checkpoint = c.Plan, c.Network, c.Statement, path
	if o.Every == 0 {
		o.Every = c.Every
	}
	if o.Data == nil {
		return nil, errNoData
	}
	r, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := r.restore(c); err != nil {
		return nil, err
	}
	r.keep(c)
	if continued && c.Step < c.Plan.Steps {
		if err := r.pay(ctx, c.Step, c.digest.String()); err != nil {
			return nil, err
		}
	}
	c.sweep(ctx, lease, path)
	return r, nil
}

// equal compares plain data by the form in which checkpoints hold them.
func equal(a, b any) (bool, error) {
	x, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b)
	return string(x) == string(y), err
}

// pay charges the plan from a step on and, with checkpoints, begins their chain.
func (r *Run) pay(ctx context.Context, from int, parent string) error {
	b := r.options.Budget
	events := r.whole
	if from > 0 {
		var err error
		if events, err = r.charges(from); err != nil {
			return err
		}
	}
	var name [16]byte
	if _, err := entropy.New().Read(name[:]); err != nil {
		return err
	}
	r.chain = checkpoint{
		Run: fmt.Sprintf("%x", name), From: from, Parent: parent, Statement: r.options.Statement,
		Charged: privacy.Sum{Events: events}.String(), Plan: r.options.Plan, Network: r.options.Network,
	}
	charge := budget.Release{Events: events, Delta: r.options.Plan.Delta}
	if r.lease != nil {
		c := r.save()
		taken, err := c.release(ctx, r.lease, r.options.Checkpoint, charge)
		if err != nil {
			return err
		}
		if taken {
			return errors.New("a name of 128 random bits is taken")
		}
		r.keep(c)
	} else {
		charge.Statement = r.chain.statement(0)
		made, err := b.Reserve(ctx, charge)
		if err != nil {
			return err
		}
		note, err := json.Marshal(map[string]string{"run": r.chain.Run, "plan": r.options.Plan.Hash()})
		if err != nil {
			return err
		}
		// What is released of the run comes after this.
		if err := made.Commit(ctx, note); err != nil {
			return err
		}
	}
	r.charged = r.chain.Charged
	return nil
}

func (r *Run) fail(err error) error {
	if r.failed == nil {
		r.failed = err
	}
	return err
}

// Hash identifies a plan.
func (p Plan) Hash() string {
	data, err := json.Marshal(p)
	if err != nil {
		return "" // only NaN fails, and a valid plan has none
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Step makes one step, and then a checkpoint if it is time. After an error the run is
// over; its last checkpoint can be resumed.
func (r *Run) Step(ctx context.Context) (err error) {
	defer wrap(&err, "train")
	if r.failed != nil {
		return r.failed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.Finished() {
		return errors.New("the plan has no more steps")
	}
	clip := r.clip()
	figures, err := r.trainer.step()
	if err != nil {
		return r.fail(err)
	}
	if r.options.Progress != nil {
		r.options.Progress(Progress{
			Step: r.trainer.done, Steps: r.options.Plan.Steps, Epsilon: r.spending.epsilon(r.trainer.done),
			Clip: clip, Owner: figures, Warnings: r.watch.look(figures),
		})
	}
	if r.options.Every > 0 && r.trainer.done%r.options.Every == 0 || r.Finished() {
		return r.checkpoint(ctx)
	}
	return nil
}

// clip is what the next step clips at.
func (r *Run) clip() float64 {
	if r.options.Plan.Clip.Mode == Adaptive {
		return r.trainer.clip
	}
	return r.options.Plan.clipAt(r.trainer.done)
}

// Train makes all steps that are left.
func (r *Run) Train(ctx context.Context) error {
	for !r.Finished() {
		if err := r.Step(ctx); err != nil {
			return err
		}
	}
	return r.Save(ctx)
}

// Save releases the state as a checkpoint, unless the last one has it. If another
// process has released the next checkpoint meanwhile, what this one has computed is
// paid for first, from the checkpoint on that it went on from.
func (r *Run) Save(ctx context.Context) (err error) {
	defer wrap(&err, "save checkpoint")
	return r.checkpoint(ctx)
}

func (r *Run) checkpoint(ctx context.Context) error {
	if r.failed != nil {
		return r.failed
	}
	if r.lease == nil || r.saved == r.trainer.done {
		return nil
	}
	c := r.save()
	c.Number++
	taken, err := c.release(ctx, r.lease, r.options.Checkpoint, budget.Release{})
	if err != nil {
		return r.fail(err)
	}
	if taken {
		if err := r.pay(ctx, r.saved, r.chain.digest.String()); err != nil {
			return r.fail(fmt.Errorf("another process went on from the same checkpoint, and its steps cannot be paid for again: %w", err))
		}
		return nil
	}
	r.keep(c)
	return nil
}

// keep notes which checkpoint the run goes on from.
func (r *Run) keep(c *checkpoint) {
	r.chain, r.saved = *c, c.Step
	r.chain.parameters = nil
}

// Finished reports whether all steps are made.
func (r *Run) Finished() bool { return r.trainer.done == r.options.Plan.Steps }

// Done returns how many steps are made.
func (r *Run) Done() int { return r.trainer.done }

// Charged returns what Start or Resume, or a Save after another process's, has charged,
// as an event; empty if nothing.
func (r *Run) Charged() string { return r.charged }

// Guarantee returns what all that is released of the run promises: its steps, the noisy
// count that it goes by, and what fast noise adds.
func (r *Run) Guarantee() Guarantee { return r.guarantee }

// Plan returns the run's plan.
func (r *Run) Plan() Plan { return r.options.Plan }

// Network returns the network as it is now, for reading. Before the run is Finished, what
// is taken from it is for the owner alone: a crash may have the steps made again.
func (r *Run) Network() *network.Network { return r.trainer.net }

func wrap(err *error, what string) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", what, *err)
	}
}
