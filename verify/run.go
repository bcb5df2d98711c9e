package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/smt"
	"github.com/discreet-dp/discreet/verify/internal/certificate"
	"github.com/discreet-dp/discreet/verify/internal/sensitivity"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// Run gives a verdict on each claim of the packages, and stores the proofs found.
//
// A stored certificate that still checks is the proof; only without one is a proof,
// or a counterexample, searched for. The error is of what could not be read (a *LoadError
// of sources that do not compile) or of the context; what goes wrong with one claim is in
// its Result. Where proofs could not be stored there is an error beside the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	loaded, err := source.Load(ctx, o.Dir, o.Patterns...)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("verify: %w", ctx.Err())
	}
	if err != nil {
		return nil, loadError(err)
	}
	if o.Check && slices.ContainsFunc(loaded, func(p *source.Package) bool { return p.Alone }) {
		return nil, &LoadError{[]Problem{{Kind: Outside, Text: strings.Join(o.Patterns, " ") + ": stored proofs are of whole packages: name the folder"}}}
	}
	r := &runner{options: o, packages: syntax(loaded), report: &Report{}}
	r.syntax = sensitivity.New(r.packages, nil) // calls are followed
	if !o.Check {
		for _, s := range []smt.Solver{smt.Z3, smt.CVC5} {
			switch _, err := smt.Find(ctx, s); {
			case errors.Is(err, smt.ErrMissing):
				r.report.Missing = append(r.report.Missing, string(s))
			case err != nil:
				r.report.Failing = append(r.report.Failing, string(s))
			}
		}
	}
	jobs, err := r.judgeAll(ctx, loaded)
	if err != nil {
		return nil, err
	}
	var unstored []error
	for _, p := range loaded {
		unstored = append(unstored, r.collect(p, jobs))
	}
	return r.report, errors.Join(unstored...)
}

// A runner is one run.
type runner struct {
	options  Options
	packages []*sensitivity.Package
	syntax   *sensitivity.Program
	// assumed has all claims for calls, proved or not; nil once they are judged.
	assumed *sensitivity.Program
	report  *Report

	telling   sync.Mutex
	done, all int
}

// A job is one function with a claim, and what became of it.
type job struct {
	pkg    *source.Package
	unit   *source.Unit
	stored *certificate.Entry
	result Result
	found  *certificate.Entry
	// postponed is set where what is called decides.
	postponed bool
	// spent is what it took so far, where there is a clock.
	spent time.Duration
}

func (r *runner) judgeAll(ctx context.Context, loaded []*source.Package) (jobs []*job, err error) {
	for _, p := range loaded {
		stored, err := certificate.Read(p.Dir)
		if err != nil {
			return nil, err
		}
		for _, u := range p.Units {
			jobs = append(jobs, &job{pkg: p, unit: u, stored: stored[u.Name]})
		}
	}
	r.all = len(jobs)
	r.assumed = r.program(jobs, func(*job) bool { return true })
	r.judgeEach(ctx, jobs)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	r.compose(ctx, jobs)
	r.assumed = nil
	r.judgeEach(ctx, slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return !j.postponed }))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return jobs, nil
}

// judgeEach judges jobs by as many workers as there may be. Where the context ends, it does not
// wait for those that do not look at it, such as the rules; what they find then is not read.
func (r *runner) judgeEach(ctx context.Context, jobs []*job) {
	queue := make(chan *job)
	var workers sync.WaitGroup
	for range min(r.options.Workers, len(jobs)) {
		workers.Go(func() {
			for j := range queue {
				r.tell(ctx, "verifying "+j.unit.Name, 0)
				r.judge(ctx, j)
				if !j.postponed {
					r.tell(ctx, "verified "+j.unit.Name, 1)
				}
			}
		})
	}
	for _, j := range jobs {
		select {
		case queue <- j:
		case <-ctx.Done():
		}
	}
	close(queue)
	over := make(chan struct{})
	go func() {
		workers.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// tell tells of progress, of a run that goes on.
func (r *runner) tell(ctx context.Context, doing string, done int) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if r.options.Progress == nil || ctx.Err() != nil {
		return
	}
	r.done += done
	r.options.Progress(Progress{Done: r.done, All: r.all, Doing: doing})
}

// collect adds the results of one package to the report, and stores its proofs.
func (r *runner) collect(p *source.Package, jobs []*job) error {
	for _, refusal := range p.Refusals {
		r.report.Results = append(r.report.Results, misplaced(p, refusal))
	}
	found, names := map[string]*certificate.Entry{}, []string{}
	for _, j := range jobs {
		if j.pkg != p {
			continue
		}
		j.result.LeastCost = strings.ReplaceAll(j.result.LeastCost, "real(", "float64(") // as a directive has it
		r.report.Results = append(r.report.Results, j.result)
		names = append(names, j.unit.Name)
		if j.found != nil {
			found[j.unit.Name] = j.found
		}
	}
	if r.options.Check || r.options.NoStore || p.Alone {
		return nil
	}
	if p.Partial { // what is stored may be of files that are not built here
		stored, err := certificate.Read(p.Dir)
		if err != nil {
			return err
		}
		names = slices.AppendSeq(names, maps.Keys(stored))
	}
	changed, err := certificate.Update(p.Dir, found, names)
	if changed {
		r.report.Stored = append(r.report.Stored, filepath.Join(p.Dir, certificate.Name))
	}
	return err
}

// grace is how long a decision may go on that has no time left, before it is left to itself.
const grace = time.Second / 2

// judge sets the result of a job, when its time is over at the latest: a decision that does not
// look at its context is left to itself.
func (r *runner) judge(ctx context.Context, j *job) {
	var begun time.Time
	if r.options.Now != nil {
		begun = r.options.Now()
	}
	within, cancel := context.WithTimeout(ctx, r.options.Timeout-j.spent)
	defer cancel()
	d := r.decision(j)
	over := make(chan struct{})
	go func() {
		defer close(over)
		d.guarded(func() { d.decide(within, j.stored) })
	}()
	select {
	case <-over:
	case <-within.Done():
		select {
		case <-over:
		case <-time.After(grace):
			d = r.decision(j)
			d.result.Claim = said(j.unit)
			d.result.Note = fmt.Sprintf("stopped: %s were over, and nothing was found", r.options.Timeout)
		}
	}
	j.postponed = d.postponed
	if d.found != nil && !j.pkg.Alone {
		d.result.Certificate = filepath.Join(j.pkg.Dir, certificate.Name) + "#" + j.unit.Name
	}
	j.result, j.found = d.result, d.found
	if r.options.Now != nil {
		j.spent += r.options.Now().Sub(begun)
		j.result.Seconds = j.spent.Seconds()
	}
}

// decision begins the decision on a job.
func (r *runner) decision(j *job) *decision {
	d := &decision{unit: j.unit, syntax: r.syntax, assumed: r.assumed, options: r.options, solver: r.may(smt.Z3), cvc5: r.may(smt.CVC5)}
	d.result = Result{
		Package: j.pkg.Path, Function: j.unit.Name, Verdict: Unknown, Over: Reals,
		File: j.unit.Position.Filename, Line: j.unit.Position.Line, Column: j.unit.Position.Column,
	}
	return d
}

// may reports whether a solver may be started.
func (r *runner) may(s smt.Solver) bool {
	return !r.options.Check && !slices.Contains(r.report.Missing, string(s)) && !slices.Contains(r.report.Failing, string(s))
}

// guarded decides, and takes a fault of the program for what it is: nothing is known of
// this claim, and the others have their verdicts.
func (d *decision) guarded(decide func()) {
	defer func() {
		if fault := recover(); fault != nil {
			d.result.Verdict, d.found = Unknown, nil
			d.result.Note = fmt.Sprintf("a fault of discreet verify, which should be reported: %v", fault)
		}
	}()
	decide()
}

// misplaced is the result of a directive that is not a function's: a claim that
// somebody believes to have made.
func misplaced(p *source.Package, refusal source.Refusal) Result {
	at := refusal.Position
	return Result{
		Package: p.Path, Verdict: Unknown, Over: Reals, File: at.Filename, Line: at.Line, Column: at.Column,
		Note: refusal.What, Problems: []Problem{problem(refusal, Directive)},
	}
}

func problem(refusal source.Refusal, kind ProblemKind) Problem {
	text := refusal.What
	if refusal.Why != "" {
		text += ": " + refusal.Why
	}
	at := refusal.Position
	return Problem{Kind: kind, File: at.Filename, Line: at.Line, Column: at.Column, Text: text, Hint: refusal.Hint}
}

// loadError makes a *LoadError of sources that do not compile.
func loadError(err error) error {
	compile, ok := errors.AsType[*source.CompileError](err)
	if !ok {
		return err
	}
	e := &LoadError{}
	for _, f := range compile.Faults {
		e.Problems = append(e.Problems, Problem{
			Kind: Outside, File: f.Position.Filename, Line: f.Position.Line, Column: f.Position.Column, Text: f.Text,
		})
	}
	return e
}
