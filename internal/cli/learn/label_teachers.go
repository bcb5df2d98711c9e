package learn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/notation"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/learn/pate"
	"github.com/discreet-dp/discreet/learn/pate/analysis"
	"github.com/discreet-dp/discreet/noise"
)

// An electorate is who votes, and on what.
type electorate struct {
	data     ensembleData
	learner  *pate.Network   // nil: no teachers are to be trained
	teachers *pate.Ensemble  // nil until they are trained or read
	public   *example.Set    // nil: no query is asked
	votes    *analysis.Votes // nil until they are cast
}

// electorate reads everything but the private examples, so that what is missing or does not
// fit is found before anybody waits for teachers.
func (l *labelling) electorate(ctx context.Context, t *terminal.Terminal) (v *electorate, err error) {
	v = &electorate{}
	switch v.data.Domain = l.domain; {
	case l.votes != "":
		v.votes, err = readVotes(l.votes, t.In)
		return v, err
	case l.ensemble != "":
		if v.teachers, err = readEnsemble(l.ensemble, &v.data); err == nil {
			l.warnReadable(t)
		}
	default:
		if err = l.describe(ctx, t, &v.data); err == nil {
			v.learner, err = l.learner(&v.data)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := l.writable(); err != nil {
		return nil, err
	}
	if l.asks() {
		if v.public, err = l.readPublic(ctx, t, &v.data); err == nil && v.public.Len() == 0 {
			err = diagnostic.New("D161", diagnostic.Span{}, "there are no examples in %s", l.public)
		}
	}
	return v, err
}

// describe declares the examples of the teachers, without reading one.
func (l *labelling) describe(ctx context.Context, t *terminal.Terminal, d *ensembleData) error {
	l.from.Screen = t
	if err := l.from.Open(&l.Workplace); err != nil {
		return err
	}
	if l.from.Images != "" {
		shape, err := example.IDXShape(ctx, l.from.Images)
		if err != nil {
			return unlearned(err)
		}
		d.Shape = []int{shape[0], shape[1], 1}
		for i := range l.classes {
			d.Classes = append(d.Classes, strconv.Itoa(i))
		}
	} else {
		if l.from.Public {
			return diagnostic.New("D183", diagnostic.Span{}, "table %q is public: there is nobody to protect", l.from.Table).
				Try("discreet train --table %s learns from it directly", l.from.Table)
		}
		encoding, err := l.Declarations.Of(ctx, t, &l.Workplace, &l.from)
		if err != nil {
			return err
		}
		if d.Encoding, d.Classes = encoding, encoding.ClassNames(); d.Classes == nil {
			return diagnostic.New("D183", diagnostic.Span{}, "the target %q is a number", encoding.Target.Name).
				Because("teachers vote for classes").Try("a target with a declared domain, or a boolean one")
		}
	}
	if l.from.Own() && l.perUnit > 1 {
		return diagnostic.New("D115", diagnostic.Span{}, "--max-per-unit has no effect").Because("each record is its own unit")
	}
	if payer := l.from.Domain(); payer != nil {
		d.Domain = payer.ID
	}
	d.Source, d.Unit = l.from.Source(), l.from.UnitName()
	return nil
}

func unlearned(err error) error { return diagnostic.New("D183", diagnostic.Span{}, "%v", err) }

// writable refuses files that could not be written later, or that would replace something
// else: the records, or the ledger with all that was charged.
func (l *labelling) writable() error {
	for _, path := range []string{l.save, l.keep} {
		if err := unwritten(path); err != nil {
			return err
		}
	}
	lost := func(path, what string) error {
		return diagnostic.New("D112", diagnostic.Span{}, "%s exists, and is not a %s", path, what).Because("its content would be lost").Try("another FILE")
	}
	switch {
	case l.save != "" && l.save == l.keep:
		return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be the ensemble and its votes", l.save)
	case l.save != "" && !terminal.Replaceable(l.save, "discreet ensemble "):
		return lost(l.save, "ensemble")
	case l.keep != "" && !holdsVotes(l.keep):
		return lost(l.keep, "file of votes")
	}
	return nil
}

// holdsVotes reports whether a path is free, or holds what looks like votes.
func holdsVotes(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 1<<12))
	return err == nil && strings.Trim(string(head), "0123456789,\n") == ""
}

// unwritten refuses a path to which nothing could be written later.
func unwritten(path string) error {
	if path == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: there is no such folder", path)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return diagnostic.New("D112", diagnostic.Span{}, "%s cannot be written: it is not a file", path)
	}
	return nil
}

// readPublic reads the public examples as the teachers' examples were read, but without a
// target, which nobody knows.
func (l *labelling) readPublic(ctx context.Context, t *terminal.Terminal, d *ensembleData) (*example.Set, error) {
	public := input.Examples{CSV: l.public}
	if d.Encoding == nil {
		public = input.Examples{Images: l.public}
	}
	if err := public.Open(&l.Workplace); err != nil {
		return nil, err
	}
	if d.Encoding == nil {
		set, _, err := example.IDX(ctx, example.IDXOptions{Images: l.public, Shape: d.Shape[:2], Classes: len(d.Classes), Unit: true})
		if err != nil {
			return nil, unlearned(err)
		}
		return set, nil
	}
	encoding := *d.Encoding
	encoding.Target = nil
	set, err := example.CSV(ctx, l.public, &encoding, "", example.Selection{PerUnit: 1})
	if errors.Is(err, example.ErrColumn) {
		return nil, diagnostic.New("D161", diagnostic.Span{}, "%s: %v", l.public, err).Because("public examples have the columns that the teachers learned from")
	}
	if err != nil {
		return nil, public.Unread(err)
	}
	return set, l.numbered(ctx, t)
}

// numbered refuses a public file of which a record was skipped, because labels are numbered
// by records, and warns of malformed ones.
func (l *labelling) numbered(ctx context.Context, t *terminal.Terminal) error {
	r, err := records.OpenCSV(ctx, l.public, notation.Form{})
	if err != nil {
		return workplace.Unreadable(l.public, err)
	}
	defer r.Close()
	for n, malformed := 0, 0; ; n++ {
		record, err := r.Next()
		if err != nil && err != io.EOF {
			return workplace.Unreadable(l.public, err)
		}
		if r.Skipped() > 0 {
			return diagnostic.New("D161", diagnostic.Span{}, "%s: the line after record %d is not a record", l.public, n).
				Because("labels refer to records by number, and a record that is left out would shift the numbers of all after it").Try("a line of more than %d bytes is not a record", records.MaxRecord)
		}
		if record.Malformed {
			malformed++
		}
		if err == io.EOF {
			if malformed > 0 {
				t.Say("warning: malformed records in %s: %d; what they lack is taken for NULL", l.public, malformed)
			}
			return nil
		}
	}
}

// learner is the teachers' network.
func (l *labelling) learner(d *ensembleData) (*pate.Network, error) {
	n := &pate.Network{Epochs: int(l.epochs), Batch: 16, Seed: 1}
	if d.Encoding == nil {
		n.Spec = pate.ImageNetwork(d.Shape[0], d.Shape[1], len(d.Classes))
		n.Optimizer = optimizer.Spec{Kind: optimizer.Adam, Rate: 0.004}
		n.Distortion = pate.Distortion{Height: d.Shape[0], Width: d.Shape[1], Shift: 1}
	} else {
		n.Spec = network.Spec{Input: d.input(), Loss: network.CrossEntropy, Layers: []network.Layer{{Type: "linear", Width: len(d.Classes)}}}
		n.Optimizer = optimizer.Spec{Kind: optimizer.Adam, Rate: 0.01}
	}
	if l.network != "" {
		f, err := os.Open(l.network)
		if err != nil {
			return nil, workplace.Unreadable(l.network, err)
		}
		defer f.Close()
		n.Spec = network.Spec{}
		text := json.NewDecoder(io.LimitReader(f, 1<<20))
		text.DisallowUnknownFields()
		if err := text.Decode(&n.Spec); err != nil {
			return nil, diagnostic.New("D183", diagnostic.Span{}, "%s is not a network: %v", l.network, err)
		}
		if n.Spec.Input == nil {
			n.Spec.Input = d.input()
		}
		n.Spec.Loss = cmp.Or(n.Spec.Loss, network.CrossEntropy)
	}
	if err := d.fits(n.Spec); err != nil {
		return nil, diagnostic.New("D183", diagnostic.Span{}, "the teachers' network cannot be made: %v", err)
	}
	return n, nil
}

// train reads the private examples and trains teachers. It releases nothing.
func (l *labelling) train(ctx context.Context, t *terminal.Terminal, v *electorate) error {
	if l.save != "" {
		if err := l.looked(ctx, v, "an ensemble of "+v.data.Source+" is kept in "+l.save); err != nil {
			return err
		}
	}
	private, err := l.readPrivate(ctx, &v.data)
	if err != nil {
		return err
	}
	step, done := t.Progress(ctx, "training teachers", int(l.teachers))
	v.teachers, err = pate.Train(ctx, private, pate.EnsembleOptions{Teachers: int(l.teachers), Learner: v.learner, Progress: step})
	done()
	if err != nil || l.save == "" {
		return err
	}
	v.data.Statement, v.data.Code, v.data.Date = command.Said(l.command), learn.ThisCode(), time.Now().UTC()
	if err := v.teachers.Write(l.save, v.data); err != nil {
		return unwritable(l.save, err)
	}
	t.Say("%s", t.Paint(terminal.Dim, "kept "+l.save+": PRIVATE, never to be published"))
	return nil
}

func (l *labelling) readPrivate(ctx context.Context, d *ensembleData) (*example.Set, error) {
	if d.Encoding == nil {
		set, _, err := example.IDX(ctx, example.IDXOptions{Images: l.from.Images, Labels: l.from.Labels, Classes: len(d.Classes), Unit: true})
		if err != nil {
			return nil, unlearned(err)
		}
		return set, nil
	}
	// All records of a unit go to one teacher, however many they are.
	s := example.Selection{PerUnit: int(cmp.Or(l.perUnit, math.MaxInt32))}
	var err error
	if s.Key, err = input.NewKey(noise.System()); err != nil {
		return nil, err
	}
	return l.from.Read(ctx, &l.Workplace, d.Encoding, s)
}

// tellIdle tells the owner which teachers know nothing. Like the votes, that depends on the
// data.
func (v *electorate) tellIdle(t *terminal.Terminal) {
	if v.teachers == nil {
		return
	}
	if n := v.teachers.Teachers() - v.teachers.Learned(); n > 0 {
		t.Say("PRIVATE, for the owner alone: %d of %d teachers had nothing to learn from, and vote for %s", n, v.teachers.Teachers(), terminal.Printable(v.data.Classes[0]))
	}
}

// looked records in the ledger that exact votes are about to be written for the owner.
func (l *labelling) looked(ctx context.Context, v *electorate, what string) error {
	return l.Ledger.Access(ctx, v.data.Domain, cmp.Or(l.Analyst, workplace.DefaultAnalyst()), "label: "+what, time.Now())
}

// ask lets the teachers vote.
func (l *labelling) ask(ctx context.Context, t *terminal.Terminal, v *electorate) (err error) {
	if v.votes == nil {
		if l.queries > 0 && int(l.queries) < v.public.Len() {
			rows := make([]int, l.queries)
			for i := range rows {
				rows[i] = i
			}
			v.public = v.public.Pick(rows)
		}
		done := t.Busy(ctx, "asking teachers")
		v.votes, err = v.teachers.Votes(ctx, v.public)
		done()
		if err != nil || l.keep == "" {
			return err
		}
		if err := l.looked(ctx, v, "exact votes of teachers on "+l.public+" are kept in "+l.keep); err != nil {
			return err
		}
		return KeepVotes(l.keep, v.votes)
	}
	if l.queries > 0 {
		v.votes.Counts = v.votes.Counts[:min(int(l.queries), v.votes.Len())*v.votes.Classes]
	}
	return nil
}

// KeepVotes writes exact votes for their owner alone, also over a file that others could
// read.
func KeepVotes(name string, v *analysis.Votes) error {
	f, err := custody.Create(name)
	if err != nil {
		return unwritable(name, err)
	}
	if err := errors.Join(v.Write(f), f.Close()); err != nil {
		return unwritable(name, err)
	}
	return nil
}

func unwritable(name string, err error) error {
	return diagnostic.New("D109", diagnostic.Span{}, "%s cannot be written: %v", name, err).Because("nothing was charged")
}
