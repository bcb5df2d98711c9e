// Package verify is the command verify: the claims of Go source, proved or refuted.
package verify

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/verify"
	"github.com/discreet-dp/discreet/verify/report"
)

// Command is discreet verify.
func Command() *command.Command {
	c := &command.Command{
		UsageLine: "verify [--check] [flags] [PACKAGE...]",
		Files:     true,
		For:       command.Anyone,
		Short:     "prove, or refute, what Go functions claim about privacy",
		Long: `Functions make claims with directives in their comments, such as //dp:adjacent
each(q) <= 1 and //dp:cost eps. For each claim of the packages (default ./...) the
verdict is one of these:

  proved               for inputs of any size; the proof is stored as a certificate
  proved-bounded       for inputs up to a size that the note names
  refuted              by two neighbours and an event whose probabilities exclude it
  refuted-statistical  the same by samples, with a confidence
  unknown              neither; what was tried is said
  vacuous              no inputs were found that meet what the claim requires: it says nothing

and over says of which numbers it speaks: integers, a grid (the compiled floats), or
the reals (nothing is said of the compiled floats).

Proofs are found by the solver z3 and believed because a checker accepts them. They
are stored in discreet.proofs.json beside the code. --check replays what is stored
and starts no solver: it is what a CI runs.

Exit code 0: there are claims and all are proved; 1 otherwise.`,
		Examples: [2]string{
			"discreet verify ./...",
			"discreet verify --check --sarif verdicts.sarif ./mechanism",
		},
	}
	var v verification
	v.define(&c.Flags)
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		v.options.Patterns = args
		return v.run(ctx, t)
	}
	return c
}

// A verification is what the flags of verify say.
type verification struct {
	options          verify.Options
	json, proof      bool
	sarif, html, smt string
}

func (v *verification) define(fs *flag.FlagSet) {
	fs.BoolVar(&v.options.Check, "check", false, "replay stored certificates; start no solver")
	fs.BoolVar(&v.options.Fresh, "fresh", false, "search for proofs anew, also where one is stored")
	fs.BoolVar(&v.options.NoStore, "no-store", false, "leave the files of certificates as they are")
	fs.BoolVar(&v.json, "json", false, "print JSON")
	fs.BoolVar(&v.proof, "proof", false, "print the proofs, statement by statement")
	fs.StringVar(&v.sarif, "sarif", "", "write what is not proved to `FILE`, for tools of code review (SARIF 2.1.0)")
	fs.StringVar(&v.html, "html", "", "write a page to `FILE`: sources with couplings, costs and invariants beside the lines")
	fs.StringVar(&v.smt, "smt", "", "write what the proofs rest on into `DIR`, as SMT-LIB files that any solver re-checks")
	fs.Func("timeout", "time for one claim: `D` (default "+verify.DefaultTimeout.String()+")", func(text string) (err error) {
		if v.options.Timeout, err = time.ParseDuration(text); err != nil || v.options.Timeout <= 0 {
			return errors.New("want a time such as 30s")
		}
		return nil
	})
}

func (v *verification) run(ctx context.Context, t *terminal.Terminal) error {
	var at atomic.Pointer[verify.Progress]
	at.Store(&verify.Progress{Doing: "reading packages"})
	done := t.Watch(ctx, func() string { return progressLine(at.Load()) })
	v.options.Progress = func(p verify.Progress) { at.Store(&p) }
	v.options.Now = time.Now
	v.options.Obligations = v.smt != ""
	r, err := verify.Run(ctx, v.options)
	done()
	if err != nil && ctx.Err() != nil {
		return undecided(at.Load())
	}
	if r == nil {
		return unverifiable(err)
	}
	unstored := err
	if len(r.Results) == 0 {
		return diagnostic.New("D151", diagnostic.Span{}, "no function of %s has a claim", strings.Join(v.packages(), ", ")).
			Because("a run that proves nothing fails").
			Try("a claim is made by //dp:cost EPS in the comment of a function, with //dp:adjacent for its inputs; see docs/verify.md")
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current folder: %w", err)
	}
	if v.json {
		err = t.WriteJSON(verdictsJSON(r, dir))
	} else {
		v.print(t, r, dir)
	}
	err = errors.Join(err, v.files(t, r, dir), unstored)
	for _, file := range r.Stored {
		t.Say("stored %s", report.Relative(dir, file))
	}
	if line := solverNote(r.Missing, r.Failing); line != "" {
		t.Say("note: %s", line)
	}
	if err != nil {
		return unverifiable(err)
	}
	if !r.Proved() {
		return failure.ErrUnproved
	}
	return nil
}

// packages are the patterns as the run understood them.
func (v *verification) packages() []string {
	if len(v.options.Patterns) == 0 {
		return []string{"./..."}
	}
	return v.options.Patterns
}

// progressLine is what people see while a run is under way.
func progressLine(p *verify.Progress) string {
	if p.All == 0 {
		return p.Doing
	}
	return fmt.Sprintf("%s %d of %d, %s", terminal.Gauge(float64(p.Done)/float64(p.All)), p.Done, p.All, terminal.Printable(p.Doing))
}

// solverNote says what to install, and what a run could not do without it. A run that only
// checks needs no solver.
func solverNote(missing, failing []string) string {
	if len(missing)+len(failing) == 0 {
		return ""
	}
	var parts []string
	if len(failing) > 0 {
		parts = append(parts, strings.Join(failing, " and ")+" cannot be run")
	}
	if len(missing) > 0 {
		verb := "is"
		if len(missing) > 1 {
			verb = "are"
		}
		parts = append(parts, strings.Join(missing, " and ")+" "+verb+" not installed")
	}
	note := strings.Join(parts, ", ") + ": certificates were checked without a second opinion"
	if slices.Contains(missing, "z3") || slices.Contains(failing, "z3") {
		note = strings.Join(parts, ", ") + ": certificates were replayed, and no new proof by couplings was searched for"
	}
	if len(missing) > 0 {
		note += "; apt-get install " + strings.Join(missing, " ")
	}
	return note
}

// files writes the reports that were asked for.
func (v *verification) files(t *terminal.Terminal, r *verify.Report, dir string) error {
	if v.sarif != "" {
		if err := writeFile(v.sarif, func(w io.Writer) error { return report.SARIF(w, r, dir, os.ReadFile) }); err != nil {
			return err
		}
		t.Say("wrote %s", v.sarif)
	}
	if v.html != "" {
		if err := writeFile(v.html, func(w io.Writer) error { return report.HTML(w, r, dir, os.ReadFile) }); err != nil {
			return err
		}
		t.Say("wrote %s", v.html)
	}
	if v.smt != "" {
		n, err := writeObligations(v.smt, r)
		if err != nil {
			return err
		}
		t.Say("wrote %d obligations into %s: each proof holds if a solver answers unsat to all of its own", n, v.smt)
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := custody.Public(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeObligations writes a file for each obligation: package.function.number.smt2.
func writeObligations(dir string, r *verify.Report) (n int, err error) {
	if err := custody.PublicFolder(dir); err != nil {
		return 0, fmt.Errorf("write obligations: %w", err)
	}
	for _, result := range r.Results {
		for i, o := range result.Obligations {
			name := fmt.Sprintf("%s.%s.%02d.smt2", result.Package, result.Function, i+1)
			text := "; " + strings.Join(strings.Fields(o.Name), " ") + "\n" + strings.TrimRight(o.SMT, "\n") + "\n"
			if err := writeFile(filepath.Join(dir, fileName(name)), func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// fileName makes a file's name of a package's path and a method's name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '_'
		case strings.ContainsRune(`()*[], \:"<>|?`, r) || r < ' ':
			return -1
		}
		return r
	}, s)
}

// undecided says how far an interrupted run came.
func undecided(p *verify.Progress) error {
	d := diagnostic.New("D102", diagnostic.Span{}, "interrupted").
		Because("%d of %d claims were decided; no verdict is printed, and no proof is stored", p.Done, p.All).
		Try("discreet verify PACKAGE decides fewer claims, and --timeout D spends less time on each")
	return fmt.Errorf("%w: %w", failure.ErrUndecided, d)
}

// unverifiable gives an error of a run the one form.
func unverifiable(err error) error {
	if errors.Is(err, verify.ErrMalformedProofs) {
		message := err.Error()
		if dir, err := os.Getwd(); err == nil { // files are named relative to it
			message = strings.ReplaceAll(message, dir+string(filepath.Separator), "")
		}
		return diagnostic.New("D152", diagnostic.Span{}, "%s", message).
			Because("somebody may have merged it by hand, so it is not overwritten").
			Try("repair the file, or delete it and run discreet verify again")
	}
	return err
}
