package main

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

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/sqltype"
)

// exampleFlags are what the flags say of a set of examples: a table of the catalog, a CSV
// file, or IDX files.
type exampleFlags struct {
	table, csv, images, labels string
	unit                       string // of a CSV file: the column of the privacy unit
	public                     bool   // of files: there is nobody to protect
	heldOut                    bool

	asTable bool   // a private source that is given as a file is read as the table that it is
	file    string // that file, once it was recognised

	declared *catalog.Table // of table, once the catalog is loaded
}

func (e *exampleFlags) define(fs *flag.FlagSet, images, labels string) {
	fs.StringVar(&e.table, "table", "", "the examples are the records of the catalog's `TABLE`")
	fs.StringVar(&e.csv, "csv", "", "the examples are the records of a CSV `FILE`, which need be in no catalog")
	fs.StringVar(&e.images, images, "", "the examples are the images of an IDX `FILE`, gzipped or not")
	if labels != "" {
		fs.StringVar(&e.labels, labels, "", "the images' labels: an IDX `FILE`")
	}
	fs.BoolVar(&e.public, "public-data", false, "the file shows nobody's data: it is as public as a table that the catalog declares so")
}

// defineUnit adds the flag of a CSV file's unit.
func (e *exampleFlags) defineUnit(fs *flag.FlagSet) {
	fs.StringVar(&e.unit, "unit", "", "of a CSV file: the `COLUMN` that says whose record it is (default: each is somebody else's)")
}

// one refuses to read from nowhere, or from two places.
func (e *exampleFlags) one(c *Command) error {
	given := 0
	for _, from := range []string{e.table, e.csv, e.images} {
		if from != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return diagnostic.New("D113", diagnostic.Span{}, "nothing says where the examples are").Try("discreet %s", c.Line())
	case given > 1:
		return diagnostic.New("D115", diagnostic.Span{}, "a table, a CSV file and images exclude each other")
	case e.table != "" && (e.public || e.unit != ""):
		return diagnostic.New("D115", diagnostic.Span{}, "--public-data and --unit are of files").
			Because("of a table the catalog says whether it is public, and what its unit is")
	case e.images != "" && e.unit != "":
		return diagnostic.New("D115", diagnostic.Span{}, "--unit is of a CSV file").Because("each image is a unit of its own")
	case e.images == "" && e.labels != "":
		return diagnostic.New("D115", diagnostic.Span{}, "labels are of images")
	}
	return nil
}

// source names where the examples are, for histories and certificates.
func (e *exampleFlags) source() string {
	switch {
	case e.table != "":
		return "table " + e.table
	case e.csv != "":
		return "file " + e.csv
	}
	return "images " + e.images
}

// open finds what is named, without reading a record, so that what is not there costs
// nothing.
func (e *exampleFlags) open(w *workplace) error {
	if e.table == "" {
		for _, path := range []string{e.csv, e.images, e.labels} {
			if path == "" {
				continue
			}
			info, err := os.Stat(path)
			if err == nil && !info.Mode().IsRegular() {
				err = errors.New("it is not a file")
			}
			if err != nil {
				return unreadable(path, err)
			}
		}
		if err := e.recognise(w); err != nil || e.table == "" {
			return err
		}
	}
	if err := w.load(); err != nil {
		return err
	}
	t, ok := w.catalog.Table(e.table)
	if !ok {
		var names []string
		for _, t := range w.catalog.Tables {
			names = append(names, t.Name)
		}
		d := diagnostic.New("D160", diagnostic.Span{}, "the catalog has no table %q", e.table)
		if near := diagnostic.Nearest(e.table, names); near != "" {
			return d.Try("did you mean %s?", near)
		}
		return d.Try("it has %s", strings.Join(names, ", "))
	}
	e.declared, e.public = t, t.Public
	return nil
}

// domain is the catalog's domain that pays for a table; nil where there is none.
func (e *exampleFlags) domain() *catalog.Domain {
	if e.declared == nil {
		return nil
	}
	return e.declared.Domain
}

// own reports whether each example is its own unit.
func (e *exampleFlags) own() bool {
	switch {
	case e.images != "":
		return true
	case e.csv != "":
		return e.unit == ""
	}
	return e.public || e.declared.Unit.Kind == catalog.UnitRow
}

// unitName says what is protected.
func (e *exampleFlags) unitName() string {
	switch {
	case e.public:
		return "nobody: the data is public"
	case e.declared != nil && e.declared.Unit.Kind != catalog.UnitRow:
		return "a unit of domain " + e.declared.Domain.ID
	case e.unit != "":
		return e.unit + " of " + e.csv
	case e.images != "":
		return "an image"
	}
	return "a row of " + cmp.Or(e.table, e.csv)
}

// recorder opens the engine.
func (w *workplace) recorder(ctx context.Context) (engine.Engine, engine.Recorder, error) {
	if w.engine == nil {
		w.engine = newLateEngine(ctx, w.catalog, w.limits, nil)
		w.opened = append(w.opened, w.engine)
	}
	opened, err := w.engine.open()
	if err != nil {
		return nil, nil, err
	}
	r, ok := opened.(engine.Recorder)
	if !ok {
		return nil, nil, fmt.Errorf("the engine %s hands out no records", opened.Dialect())
	}
	return opened, r, nil
}

// read reads the examples. Whatever stands in them is no error; what fails of a
// catalog's table says nothing of it.
func (e *exampleFlags) read(ctx context.Context, w *workplace, encoding *example.Encoding, s example.Selection) (*example.Set, error) {
	switch {
	case e.images != "":
		return nil, errors.New("images have no encoding")
	case e.csv != "":
		set, err := example.CSV(ctx, e.csv, encoding, e.unit, s)
		return set, e.unread(err)
	}
	_, records, err := w.recorder(ctx)
	if err != nil {
		return nil, err
	}
	b, err := example.NewBuilder(encoding, s, e.own())
	if err != nil {
		return nil, err
	}
	err = records.EachRecord(ctx, e.table, encoding.Needs(), func(unit string, values []sqltype.Value) error {
		b.Add(unit, values)
		return nil
	})
	if err != nil {
		return nil, e.unread(err)
	}
	return b.Set(), nil
}

// readImages reads IDX files, whose shape they say themselves.
func (e *exampleFlags) readImages(ctx context.Context, o example.IDXOptions) (*example.Set, []int, error) {
	o.Images, o.Labels = e.images, e.labels
	set, shape, err := example.IDX(ctx, o)
	return set, shape, e.unread(err)
}

// unread says why examples cannot be read.
func (e *exampleFlags) unread(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrResource):
		return diagnostic.New("D100", diagnostic.Span{}, "the examples could not be read").Because("the charge, if there was one, stays")
	case errors.Is(err, example.ErrColumn), errors.Is(err, example.ErrIDX), errors.Is(err, example.ErrEncoding), errors.Is(err, example.ErrSelection):
		return diagnostic.New("D161", diagnostic.Span{}, "%v", err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return unreadable(cmp.Or(e.csv, e.images), err)
	case e.csv != "" && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded): // it is empty, or its compression is cut
		return diagnostic.New("D161", diagnostic.Span{}, "%s cannot be read: %s", e.csv, strings.TrimPrefix(err.Error(), "read examples: "))
	}
	return err
}

// declarations are what the flags say of how records become numbers.
type declarations struct {
	columns  []string
	goal     string
	encoding string // a file
	bins     int

	untargeted bool // nothing is predicted
}

func (d *declarations) define(fs *flag.FlagSet) {
	d.bins = 8
	fs.StringVar(&d.goal, "target", "", "predict `COLUMN`: of a domain a class, of bounds a number; of a CSV file declared as in --columns")
	fs.Func("columns", "learn from `A,B,...` (default all that are declared); of a CSV file declared, as age=0..120,ward=ER|ICU,smoker=boolean", list(&d.columns))
	fs.StringVar(&d.encoding, "encoding", "", "of a CSV file: the columns and the target are declared in a JSON `FILE`, as model inspect --json shows one")
	fs.Func("bins", "also cut the range of a number into `N` parts, and its logarithm, each a feature; 0: into none (default 8)", func(text string) (err error) {
		if d.bins, err = strconv.Atoi(text); err != nil || d.bins < 0 || d.bins == 1 || d.bins > example.MaxBins {
			return fmt.Errorf("want 0, or a whole number from 2 to %d", example.MaxBins)
		}
		return nil
	})
}

// check refuses declarations of records that say too little, or too much.
func (d *declarations) check(e *exampleFlags, c *Command) error {
	exclude := func(a, b string) error {
		return diagnostic.New("D115", diagnostic.Span{}, "%s and %s exclude each other", a, b)
	}
	switch {
	case d.goal == "" && d.encoding == "" && !d.untargeted:
		return diagnostic.New("D113", diagnostic.Span{}, "nothing says which column is the --target").Try("discreet %s", c.Line())
	case d.encoding != "" && (d.columns != nil || d.goal != ""):
		return exclude("--encoding", "--columns and --target")
	case e.table != "" && d.encoding != "":
		return exclude("--table", "--encoding")
	case e.csv != "" && d.encoding == "" && d.columns == nil:
		return diagnostic.New("D113", diagnostic.Span{}, "nothing declares the columns of %s", e.csv).
			Try("--columns age=0..120,ward=ER|ICU --target ill=boolean; or --encoding FILE")
	}
	return nil
}

// of makes the encoding of examples, with a target if there is to be one.
func (d *declarations) of(ctx context.Context, t *terminal, w *workplace, e *exampleFlags) (encoding *example.Encoding, err error) {
	switch {
	case e.table != "":
		encoding, err = e.declare(ctx, t, w, d)
	case d.encoding != "":
		encoding, err = encodingOf(d.encoding)
	default:
		encoding, err = inline(d.columns, d.goal, d.bins)
	}
	switch {
	case err != nil:
	case d.untargeted:
		encoding.Target = nil
	case encoding.Target == nil:
		err = diagnostic.New("D161", diagnostic.Span{}, "the encoding has no target").Because("there is nothing to be learned without")
	}
	if err == nil && e.csv != "" {
		err = e.unread(example.CheckCSV(ctx, e.csv, encoding, e.unit))
	}
	return encoding, err
}

// declare makes the encoding of a table of the catalog, of what its columns' domains
// and bounds say.
func (e *exampleFlags) declare(ctx context.Context, t *terminal, w *workplace, said *declarations) (*example.Encoding, error) {
	d := example.Declared{Table: e.declared, Columns: said.columns, Target: said.goal, Bins: said.bins,
		Public: func(domain *catalog.PublicDomain) ([]sqltype.Value, error) { return publicValues(ctx, w, domain) }}
	if e.public {
		d.Seen = func(c *catalog.Column) (values []sqltype.Value, err error) {
			_, records, err := w.recorder(ctx)
			if err != nil {
				return nil, err
			}
			err = records.EachRecord(ctx, e.table, []string{c.Name}, func(_ string, row []sqltype.Value) error {
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
		return nil, e.unread(err)
	}
	if len(left) > 0 {
		why := "for want of a declared domain or bounds"
		if e.public {
			why = "as all alike, or all different"
		}
		t.say("left out %s: %s", why, strings.Join(left, ", "))
	}
	return encoding, nil
}

// columnRefusal says which line of the catalog is lacking.
func (e *exampleFlags) columnRefusal(refused *example.ColumnError) error {
	if refused.Unknown {
		var names []string
		for _, c := range e.declared.Columns {
			names = append(names, c.Name)
		}
		d := diagnostic.New("D160", diagnostic.Span{}, "table %q has no column %q", e.table, refused.Column)
		if near := diagnostic.Nearest(refused.Column, names); near != "" {
			return d.Try("did you mean %s?", near)
		}
		return d.Try("it has %s", strings.Join(names, ", "))
	}
	d := diagnostic.New("D162", diagnostic.Span{}, "column %q of table %q cannot be learned: %s", refused.Column, e.table, refused.Why)
	if !e.public {
		d.Because("what becomes of a value must be known without looking at the data")
	}
	if refused.Declare == "" {
		return d
	}
	return d.Try("declare under [tables.%s.columns]: %s", e.table, refused.Declare)
}

// publicValues are the values of a domain that stands in a public table.
func publicValues(ctx context.Context, w *workplace, d *catalog.PublicDomain) (values []sqltype.Value, err error) {
	opened, _, err := w.recorder(ctx)
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

// encodingOf reads an encoding that was written by hand, or by model inspect.
func encodingOf(path string) (*example.Encoding, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
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
		Because("what becomes of a value must be known without looking at the data").
		Try("say %s=0..120, %s=ER|ICU, or %s=boolean; or name all columns in a file with --encoding", c.Name, c.Name, c.Name)
}

// newKey draws the key of a selection.
func newKey(bits noise.Bits) (key [32]byte, err error) {
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
