// Package input has what the commands of learning and auditing read: examples from tables,
// CSV files and images, and model files, with the scores of a model on examples.
//
// A private source that is given as a plain file is recognised and treated as the table.
package input

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/sqltype"
)

// Examples are what the flags say of a set of examples: a table of the catalog, a CSV
// file, or IDX files.
type Examples struct {
	Table, CSV, Images, Labels string
	Unit                       string // of a CSV file: the column of the privacy unit
	Public                     bool   // of files: they need no protection
	HeldOut                    bool

	AsTable bool   // the file is the source of a private table, and is read as that table
	File    string // that file, once it was recognised

	Declared *catalog.Table // of table, once the catalog is loaded

	Screen *terminal.Terminal // shows how many records were read; nil for none
}

// Define defines the flags that name examples.
func (e *Examples) Define(fs *flag.FlagSet, images, labels string) {
	fs.StringVar(&e.Table, "table", "", "the examples are the records of the catalog's `TABLE`")
	fs.StringVar(&e.CSV, "csv", "", "the examples are the records of a CSV `FILE`, which need be in no catalog")
	fs.StringVar(&e.Images, images, "", "the examples are the images of an IDX `FILE`, gzipped or not")
	if labels != "" {
		fs.StringVar(&e.Labels, labels, "", "the images' labels: an IDX `FILE`")
	}
	fs.BoolVar(&e.Public, "public-data", false, "the file shows nobody's data: it is as public as a table that the catalog declares so")
}

// DefineUnit adds the flag of a CSV file's unit.
func (e *Examples) DefineUnit(fs *flag.FlagSet) {
	fs.StringVar(&e.Unit, "unit", "", "of a CSV file: the `COLUMN` that says whose record it is (default: each is somebody else's)")
}

// One refuses a command line that names no source, or two.
func (e *Examples) One(c *command.Command) error {
	given := 0
	for _, from := range []string{e.Table, e.CSV, e.Images} {
		if from != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return diagnostic.New("D113", diagnostic.Span{}, "the source of the examples is missing").Try("discreet %s", c.Line())
	case given > 1:
		return diagnostic.New("D115", diagnostic.Span{}, "a table, a CSV file and images exclude each other")
	case e.Table != "" && (e.Public || e.Unit != ""):
		return diagnostic.New("D115", diagnostic.Span{}, "--public-data and --unit are for files").
			Because("for a table, the catalog says whether it is public, and what its unit is")
	case e.Images != "" && e.Unit != "":
		return diagnostic.New("D115", diagnostic.Span{}, "--unit is for a CSV file").Because("each image is a unit of its own")
	case e.Images == "" && e.Labels != "":
		return diagnostic.New("D115", diagnostic.Span{}, "--labels is for images")
	}
	return nil
}

// Source names where the examples are, for histories and certificates.
func (e *Examples) Source() string {
	switch {
	case e.Table != "":
		return "table " + e.Table
	case e.CSV != "":
		return "file " + e.CSV
	}
	return "images " + e.Images
}

// Open finds the source without reading a record, so that a missing one costs
// nothing.
func (e *Examples) Open(w *workplace.Workplace) error {
	if e.Table == "" {
		for _, path := range []string{e.CSV, e.Images, e.Labels} {
			if path == "" {
				continue
			}
			info, err := os.Stat(path)
			if err == nil && !info.Mode().IsRegular() {
				err = errors.New("it is not a file")
			}
			if err != nil {
				return workplace.Unreadable(path, err)
			}
		}
		if err := e.recognise(w); err != nil || e.Table == "" {
			return err
		}
	}
	if err := w.Load(); err != nil {
		return err
	}
	t, ok := w.Catalog.Table(e.Table)
	if !ok {
		return w.NoTable("D160", e.Table)
	}
	e.Declared, e.Public = t, t.Public
	return nil
}

// Domain is the domain that pays for a table; nil where there is none.
func (e *Examples) Domain() *catalog.Domain {
	if e.Declared == nil {
		return nil
	}
	return e.Declared.Domain
}

// Own reports whether each example is its own unit.
func (e *Examples) Own() bool {
	switch {
	case e.Images != "":
		return true
	case e.CSV != "":
		return e.Unit == ""
	}
	return e.Public || e.Declared.Unit.Kind == catalog.UnitRow
}

// UnitName says what is protected.
func (e *Examples) UnitName() string {
	switch {
	case e.Public:
		return "nobody: the data is public"
	case e.Declared != nil && e.Declared.Unit.Kind != catalog.UnitRow:
		return "a unit of domain " + e.Declared.Domain.ID
	case e.Unit != "":
		return e.Unit + " of " + e.CSV
	case e.Images != "":
		return "an image"
	}
	return "a row of " + cmp.Or(e.Table, e.CSV)
}

// Read reads the examples. No record is an error, and an error about a table of the
// catalog says nothing of its records.
func (e *Examples) Read(ctx context.Context, w *workplace.Workplace, encoding *example.Encoding, s example.Selection) (*example.Set, error) {
	var read atomic.Int64
	if e.Screen != nil {
		defer e.Screen.Watch(ctx, func() string {
			if n := read.Load(); n > 0 {
				return fmt.Sprintf("reading %s: %d records", e.Source(), n)
			}
			return "reading " + e.Source()
		})()
	}
	switch {
	case e.Images != "":
		return nil, errors.New("images have no encoding")
	case e.CSV != "":
		set, err := example.CSV(ctx, e.CSV, encoding, e.Unit, s)
		return set, e.Unread(err)
	}
	_, records, err := w.Recorder(ctx)
	if err != nil {
		return nil, err
	}
	b, err := example.NewBuilder(encoding, s, e.Own())
	if err != nil {
		return nil, err
	}
	err = records.EachRecord(ctx, e.Table, encoding.Needs(), func(unit string, values []sqltype.Value) error {
		read.Add(1)
		b.Add(unit, values)
		return nil
	})
	if err != nil {
		return nil, e.Unread(err)
	}
	return b.Set(), nil
}

// readImages reads IDX files, which state their own shape.
func (e *Examples) readImages(ctx context.Context, o example.IDXOptions) (*example.Set, []int, error) {
	o.Images, o.Labels = e.Images, e.Labels
	set, shape, err := example.IDX(ctx, o)
	return set, shape, e.Unread(err)
}

// Unread says why examples cannot be read.
func (e *Examples) Unread(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrResource):
		return diagnostic.New("D100", diagnostic.Span{}, "the examples could not be read").Because("the charge, if there was one, stays")
	case errors.Is(err, example.ErrColumn) && e.CSV != "":
		return diagnostic.New("D161", diagnostic.Span{}, "%v", err).
			Because("a plain file is read with a header, commas and double quotes, in UTF-8").
			Try("if it is written otherwise, declare it as a table, with [tables.NAME.csv], and name that with --table")
	case errors.Is(err, example.ErrColumn), errors.Is(err, example.ErrIDX), errors.Is(err, example.ErrEncoding), errors.Is(err, example.ErrSelection):
		return diagnostic.New("D161", diagnostic.Span{}, "%v", err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return workplace.Unreadable(cmp.Or(e.CSV, e.Images), err)
	case e.CSV != "" && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded): // it is empty, or its compression is cut
		return diagnostic.New("D161", diagnostic.Span{}, "%s cannot be read: %s", e.CSV, strings.TrimPrefix(err.Error(), "read examples: "))
	}
	return err
}

// Declarations are the flags that say how records become numbers.
type Declarations struct {
	Columns  []string
	Goal     string
	Encoding string // a file
	Bins     int

	Untargeted bool // nothing is predicted
}

// Define defines the flags that declare what columns hold.
func (d *Declarations) Define(fs *flag.FlagSet) {
	d.Bins = 8
	fs.StringVar(&d.Goal, "target", "", "predict `COLUMN`: of a domain a class, of bounds a number; of a CSV file declared as in --columns")
	fs.Func("columns", "learn from `A,B,...` (default all that are declared); of a CSV file declared, as age=0..120,ward=ER|ICU,smoker=boolean", command.List(&d.Columns))
	fs.StringVar(&d.Encoding, "encoding", "", "of a CSV file: the columns and the target are declared in a JSON `FILE`, as model inspect --json shows one")
	fs.Func("bins", "also cut the range of a number into `N` parts, and its logarithm, each a feature; 0: into none (default 8)", func(text string) (err error) {
		if d.Bins, err = strconv.Atoi(text); err != nil || d.Bins < 0 || d.Bins == 1 || d.Bins > example.MaxBins {
			return fmt.Errorf("want 0, or a whole number from 2 to %d", example.MaxBins)
		}
		return nil
	})
}

// Check refuses declarations that say too little of records, or too much.
func (d *Declarations) Check(e *Examples, c *command.Command) error {
	exclude := func(a, b string) error {
		return diagnostic.New("D115", diagnostic.Span{}, "%s and %s exclude each other", a, b)
	}
	switch {
	case d.Goal == "" && d.Encoding == "" && !d.Untargeted:
		return diagnostic.New("D113", diagnostic.Span{}, "the column to predict is missing: --target").Try("discreet %s", c.Line())
	case d.Encoding != "" && (d.Columns != nil || d.Goal != ""):
		return exclude("--encoding", "--columns and --target")
	case e.Table != "" && d.Encoding != "":
		return exclude("--table", "--encoding")
	case e.CSV != "" && d.Encoding == "" && d.Columns == nil:
		return diagnostic.New("D113", diagnostic.Span{}, "the columns of %s are not declared", e.CSV).
			Try("--columns age=0..120,ward=ER|ICU --target ill=boolean; or --encoding FILE")
	}
	return nil
}

// Of makes the encoding of examples, with a target if there is to be one.
func (d *Declarations) Of(ctx context.Context, t *terminal.Terminal, w *workplace.Workplace, e *Examples) (encoding *example.Encoding, err error) {
	switch {
	case e.Table != "":
		encoding, err = e.declare(ctx, t, w, d)
	case d.Encoding != "":
		encoding, err = encodingOf(d.Encoding)
	default:
		encoding, err = inline(d.Columns, d.Goal, d.Bins)
	}
	switch {
	case err != nil:
	case d.Untargeted:
		encoding.Target = nil
	case encoding.Target == nil:
		err = diagnostic.New("D161", diagnostic.Span{}, "the encoding has no target").Because("a model learns to predict the target")
	}
	if err == nil && e.CSV != "" {
		err = e.Unread(example.CheckCSV(ctx, e.CSV, encoding, e.Unit))
	}
	return encoding, err
}

// declare makes the encoding of a table of the catalog from the domains and bounds of its
// columns.
func (e *Examples) declare(ctx context.Context, t *terminal.Terminal, w *workplace.Workplace, said *Declarations) (*example.Encoding, error) {
	d := example.Declared{Table: e.Declared, Columns: said.Columns, Target: said.Goal, Bins: said.Bins,
		Public: func(domain *catalog.PublicDomain) ([]sqltype.Value, error) { return publicValues(ctx, w, domain) }}
	if e.Public {
		d.Seen = func(c *catalog.Column) (values []sqltype.Value, err error) {
			_, records, err := w.Recorder(ctx)
			if err != nil {
				return nil, err
			}
			err = records.EachRecord(ctx, e.Table, []string{c.Name}, func(_ string, row []sqltype.Value) error {
				values = append(values, row[0])
				return nil
			})
			return values, err
		}
	}
	encoding, left, err := d.Encoding()
	var refused *example.ColumnError
	switch {
	case errors.As(err, &refused):
		return nil, e.columnRefusal(refused)
	case err != nil:
		return nil, e.Unread(err)
	}
	if len(left) > 0 {
		why := "for want of a declared domain or bounds"
		if e.Public {
			why = "as all alike, or all different"
		}
		t.Say("left out %s: %s", why, strings.Join(left, ", "))
	}
	return encoding, nil
}

// columnRefusal names the line of the catalog that lacks something.
func (e *Examples) columnRefusal(refused *example.ColumnError) error {
	if refused.Unknown {
		var names []string
		for _, c := range e.Declared.Columns {
			names = append(names, c.Name)
		}
		d := diagnostic.New("D160", diagnostic.Span{}, "table %q has no column %q", e.Table, refused.Column)
		if near := diagnostic.Nearest(refused.Column, names); near != "" {
			return d.Try("did you mean %s?", near)
		}
		return d.Try("it has %s", strings.Join(names, ", "))
	}
	d := diagnostic.New("D162", diagnostic.Span{}, "column %q of table %q cannot be learned: %s", refused.Column, e.Table, refused.Why)
	if !e.Public {
		d.Because("the numbers that a value becomes must be known without looking at the data")
	}
	if refused.Declare == "" {
		return d
	}
	return d.Try("declare under [tables.%s.columns]: %s", e.Table, refused.Declare)
}

// publicValues are the values of a domain that stands in a public table.
func publicValues(ctx context.Context, w *workplace.Workplace, d *catalog.PublicDomain) (values []sqltype.Value, err error) {
	opened, _, err := w.Recorder(ctx)
	if err != nil {
		return nil, err
	}
	columns, rows, err := opened.Public(ctx, d.FromTable.Name)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(columns, func(c engine.Column) bool { return c.Name == d.FromColumn.Name })
	for _, row := range rows {
		if row[at] != nil {
			values = append(values, row[at])
		}
	}
	slices.SortFunc(values, sqltype.Compare)
	return slices.CompactFunc(values, func(a, b sqltype.Value) bool { return sqltype.Compare(a, b) == 0 }), nil
}

// encodingOf reads an encoding that a person wrote, or model inspect.
func encodingOf(path string) (*example.Encoding, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, workplace.Unreadable(path, err)
	}
	e := &example.Encoding{}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(e); err == nil {
		err = e.Validate()
		if err == nil {
			return e, nil
		}
		return nil, diagnostic.New("D161", diagnostic.Span{}, "%s: %v", path, err)
	}
	return nil, diagnostic.New("D161", diagnostic.Span{}, "%s is not an encoding in JSON", path).
		Try(`{"columns": [{"name": "age", "type": "integer", "lower": 0, "upper": 120}], "target": {"name": "ill", "type": "boolean"}}`)
}

// inline reads declarations from flags: age=0..120, ward=ER|ICU, smoker=boolean.
func inline(columns []string, target string, bins int) (*example.Encoding, error) {
	e := &example.Encoding{}
	for _, text := range columns {
		c, err := inlineColumn(text)
		if err != nil {
			return nil, err
		}
		if c.Values == nil && c.Type == "double" {
			c.Bins = bins
		}
		e.Columns = append(e.Columns, c)
	}
	if target != "" {
		c, err := inlineColumn(target)
		if err != nil {
			return nil, err
		}
		e.Target = &c
	}
	if err := e.Validate(); err != nil {
		return nil, diagnostic.New("D161", diagnostic.Span{}, "%v", err)
	}
	return e, nil
}

func inlineColumn(text string) (c example.Column, err error) {
	name, declared, has := strings.Cut(text, "=")
	c.Name = strings.TrimSpace(name)
	lower, upper, ranged := strings.Cut(declared, "..")
	switch {
	case !has || declared == "":
	case declared == "boolean":
		c.Type = "boolean"
		return c, nil
	case strings.Contains(declared, "|"):
		c.Type, c.Values = "text", strings.Split(declared, "|")
		return c, nil
	case ranged:
		lo, err := strconv.ParseFloat(lower, 64)
		hi, also := strconv.ParseFloat(upper, 64)
		if err == nil && also == nil {
			c.Type, c.Lower, c.Upper = "double", lo, hi
			return c, nil
		}
	}
	return c, diagnostic.New("D162", diagnostic.Span{}, "column %q of a CSV file is not declared", c.Name).
		Because("the numbers that a value becomes must be known without looking at the data").
		Try("say %s=0..120, %s=ER|ICU, or %s=boolean; or name all columns in a file with --encoding", c.Name, c.Name, c.Name)
}

// NewKey draws the key of a selection.
func NewKey(bits noise.Bits) (key [32]byte, err error) {
	for i := range 4 {
		word, err := bits.Uint64()
		if err != nil {
			return key, err
		}
		for j := range 8 {
			key[8*i+j] = byte(word >> (8 * j))
		}
	}
	return key, nil
}
