package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/pate"
)

// ensembleData is what an ensemble's file says of its teachers. Nothing of it was
// learned from data.
type ensembleData struct {
	Source    string            `json:"source"`
	Unit      string            `json:"unit"`
	Domain    string            `json:"domain"` // pays for every label, whoever asks
	Classes   []string          `json:"classes"`
	Encoding  *example.Encoding `json:"encoding,omitempty"` // of records
	Shape     []int             `json:"shape,omitempty"`    // of images
	Statement string            `json:"statement"`
	Code      learn.Code        `json:"code"`
	Date      time.Time         `json:"date"`
}

// input is the shape of an example.
func (d *ensembleData) input() []int {
	if d.Encoding == nil {
		return d.Shape
	}
	return []int{d.Encoding.Width()}
}

// fits refuses a network that cannot vote for the classes on such examples.
func (d *ensembleData) fits(spec network.Spec) error {
	net, err := network.New(spec)
	if err != nil {
		return err
	}
	if width := input.Product(d.input()); net.Width() != width || net.OutputSize() != len(d.Classes) {
		return fmt.Errorf("it maps %d numbers to %d scores, and an example has %d, for %d classes", net.Width(), net.OutputSize(), width, len(d.Classes))
	}
	if spec.Loss != network.CrossEntropy {
		return fmt.Errorf("its loss is %q: a score a class has the loss %q", spec.Loss, network.CrossEntropy)
	}
	return nil
}

// readEnsemble reads the file that --save-ensemble wrote.
func readEnsemble(path string, d *ensembleData) (*pate.Ensemble, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, workplace.Unreadable(path, err)
	} else if !info.Mode().IsRegular() {
		return nil, workplace.Unreadable(path, errors.New("it is not a file"))
	}
	unusable := func(err error) error {
		return diagnostic.New("D184", diagnostic.Span{}, "%s is not an ensemble that can be asked: %s", path, diagnostic.Cause(err)).Because("nothing was charged").
			Try("discreet label --save-ensemble writes one")
	}
	e, about, err := pate.ReadEnsemble(path)
	switch {
	case errors.Is(err, pate.ErrKind) && isModel(path):
		return nil, diagnostic.New("D184", diagnostic.Span{}, "%s is a trained model, not an ensemble", path).Because("nothing was charged").
			Try("discreet predict --model-file %s", path)
	case err != nil:
		return nil, unusable(errors.New(strings.TrimPrefix(err.Error(), "read ensemble: ")))
	}
	if err := json.Unmarshal(about, d); err != nil || d.Domain == "" || (d.Encoding == nil) == (len(d.Shape) != 3) {
		return nil, unusable(errors.New("it does not describe its examples, or who pays"))
	}
	if d.Encoding != nil {
		if err := d.Encoding.Validate(); err != nil {
			return nil, unusable(err)
		}
	}
	spec, _ := e.Network()
	if err := d.fits(spec); err != nil {
		return nil, unusable(err)
	}
	return e, nil
}

// isModel and isEnsemble report whether a file is, or was, one.
func isModel(path string) bool {
	_, err := learn.ReadModel(path)
	return !errors.Is(err, learn.ErrKind)
}

// warnReadable warns of a file that other users can read.
func (l *labelling) warnReadable(t *terminal.Terminal) {
	if info, err := os.Stat(l.ensemble); err == nil && info.Mode().Perm()&0o077 != 0 {
		t.Say("warning: others can read %s, and with it what the teachers learned from (chmod 600 %s)", l.ensemble, l.ensemble)
	}
}

// kept says what was trained, if no query is asked.
func (l *labelling) kept(t *terminal.Terminal, v *electorate) error {
	if t.JSON {
		return t.WriteJSON(v.inspected(l.save))
	}
	fmt.Fprintf(t.Out, "%s: %d teachers of %s, PRIVATE; nothing was asked, and nothing charged\n", l.save, v.teachers.Teachers(), terminal.Printable(v.data.Source))
	return nil
}

// An inspectedEnsemble is an ensemble's file as JSON, without the teachers.
type inspectedEnsemble struct {
	Ensemble string       `json:"ensemble"`
	Private  bool         `json:"private"` // true
	Teachers int          `json:"teachers"`
	Network  network.Spec `json:"network"`
	Examples ensembleData `json:"examples"`
}

func (v *electorate) inspected(path string) inspectedEnsemble {
	spec, _ := v.teachers.Network()
	return inspectedEnsemble{path, true, v.teachers.Teachers(), spec, v.data}
}

// inspectEnsemble shows what an ensemble's file declares.
func inspectEnsemble(t *terminal.Terminal, path string) error {
	v := &electorate{}
	var err error
	if v.teachers, err = readEnsemble(path, &v.data); err != nil {
		return err
	}
	if t.JSON {
		return t.WriteJSON(v.inspected(path))
	}
	line := func(name, format string, args ...any) {
		fmt.Fprintf(t.Out, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	spec, _ := v.teachers.Network()
	d := &v.data
	line("ensemble", "%d teachers, each %s", v.teachers.Teachers(), summary(spec))
	line("PRIVATE", "no guarantee covers a teacher: this file must never be published; labels that discreet label releases may be")
	line("votes for", "%s", terminal.Printable(strings.Join(d.Classes, ", ")))
	if e := d.Encoding; e != nil {
		var names []string
		for _, c := range e.Columns {
			names = append(names, c.Name)
		}
		line("from", "%s (%d features)", terminal.Printable(strings.Join(names, ", ")), e.Width())
	} else {
		line("from", "images of %d by %d", d.Shape[0], d.Shape[1])
	}
	line("data", "%s", terminal.Printable(d.Source))
	line("unit", "%s, whose examples one teacher has seen", terminal.Printable(d.Unit))
	line("domain", "%s pays for every label", terminal.Printable(d.Domain))
	line("statement", "%s", terminal.Printable(d.Statement))
	line("code", "%s", terminal.Printable(codeText(d.Code)))
	line("date", "%s", d.Date.Format(time.RFC3339))
	return nil
}
