package query

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	workers "github.com/discreet-dp/discreet/internal/cli/worker"
	"github.com/discreet-dp/discreet/internal/cli/workplace"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/sandbox"
	"github.com/discreet-dp/discreet/sandbox/worker"
	"github.com/discreet-dp/discreet/sqltype"
)

// Map is discreet map.
func Map() *command.Command {
	c := &command.Command{
		UsageLine: "map --module FILE --table TABLE --columns A,B [flags] ['SELECT ... FROM mapped ...']",
		For:       command.Analyst,
		Short:     "run untrusted WebAssembly over a private table and aggregate what it makes; spends budget",
		Long: `The module sees one record at a time, or with --per unit all records of one privacy
unit, and nothing else: no files, no clock, no randomness, no memory of what it saw
before. What it makes of a record are up to --outputs rows, each a value that is
clamped to --value and, with --keys, one of these keys. The rows are a private table
called mapped, with the columns key and value, and belong to the unit of the record.

--reduce says what is asked of that table: count, sum, mean, histogram, noisy-max
(the key with the most), threshold (the keys whose noisy count is above --above), or
quantile. Or ask anything: a statement over mapped is answered as discreet query
answers it, under the same bounds, budget and intervals.

--given hands numbers to every call, after the columns of each record: what an earlier
map was answered, say. Each map is charged by itself.

A record at which the module fails, runs out of fuel or leaves its form gives the
value of --default (and nothing without one), never an error. How long the module
runs is not hidden: see docs/sandbox.md.

Where the records are in PostgreSQL or in a Trino cluster, they are read there by ranges
of units, and the statement reads mapped alone: docs/map.md.

--worker has other machines run the module (discreet worker). The answer is the same, and
a worker that is lost is done without.

Exit codes are those of discreet query.`,
		Examples: [2]string{
			"discreet map --module words.wasm --table visits --columns note --keys pain,fever --value 0..10 --reduce sum --epsilon 0.5",
			"discreet map --module risk.wasm --table visits --columns age,cost --per unit --value 0..1 --rho 0.01 'SELECT avg(value) FROM mapped'",
		},
	}
	var w workplace.Workplace
	var s workplace.Statement
	m := mapping{options: catalog.MapOptions{Name: "mapped", Outputs: 1}}
	w.Define(&c.Flags)
	s.Define(&c.Flags)
	s.DefineAsker(&c.Flags)
	m.define(&c.Flags)
	var f printing
	f.define(&c.Flags)
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		if err := f.settle(t); err != nil {
			return err
		}
		text, err := m.statement(ctx, c, &s, t.In, args)
		if err != nil {
			return err
		}
		s.Analyst = cmp.Or(s.Analyst, workplace.DefaultAnalyst())
		if err := w.Load(); err != nil {
			return err
		}
		defer w.Close()
		mapper, job, err := m.load(ctx, &w)
		if err != nil {
			return err
		}
		defer mapper.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it holds nothing but memory
		crew, err := m.crew.Gather(ctx, mapper, job, w.Log())
		if err != nil {
			return err
		}
		if crew != nil {
			defer crew.Close()
			mapped := w.Maps[m.options.Name]
			mapped.Rows, mapped.AtOnce = m.rowsOf(crew.Map), crew.Slots()
			w.Maps[m.options.Name] = mapped
		}
		done := t.Busy(ctx, "mapping")
		a, err := w.Answer(ctx, text, &s.QueryOptions, f.admit)
		done()
		if err != nil {
			return err
		}
		if m.reduce == "quantile" {
			if a, err = m.quantile(a); err != nil {
				return err
			}
		}
		return f.write(t, a)
	}
	return c
}

// A mapping is what the flags of map say.
type mapping struct {
	options      catalog.MapOptions
	module       string
	fallback     string
	fuel, memory int64
	reduce       string
	above        *int64
	given        []sqltype.Value
	rank         float64
	buckets      int
	crew         workers.Crew
}

var reducers = []string{"count", "sum", "mean", "histogram", "noisy-max", "threshold", "quantile"}

func (m *mapping) define(fs *flag.FlagSet) {
	m.crew.Define(fs)
	fs.StringVar(&m.module, "module", "", "the WebAssembly `FILE`")
	fs.StringVar(&m.options.Of, "table", "", "the private `TABLE` of the catalog")
	fs.Func("columns", "what the module sees of a record: `A,B,...`, in this order", command.List(&m.options.Columns))
	fs.Func("keys", "the keys that a row may have: `K,...` (default: rows have none)", command.List(&m.options.Keys))
	fs.Func("value", "values are clamped to `LO..HI` (default 0..1)", func(text string) (err error) {
		m.options.Lower, m.options.Upper, err = bounds(text)
		return err
	})
	fs.StringVar(&m.fallback, "default", "", "what a failing call makes: `V`, or with keys KEY=V,... (default: nothing)")
	count := func(to *int64, most int64) func(string) error {
		return func(text string) (err error) {
			if *to, err = strconv.ParseInt(text, 10, 64); err != nil || *to < 1 || *to > most {
				return fmt.Errorf("want a whole number from 1 to %d", most)
			}
			return nil
		}
	}
	fs.Func("outputs", "rows that one call makes at most: `N` (default 1)", count(&m.options.Outputs, sandbox.MaxOutputs))
	fs.Func("max-groups", "groups that a unit contributes to at most: `N` (default by the table's bounds)", count(&m.options.MaxGroups, 1<<31))
	fs.Func("max-rows", "rows of a unit in a group at most: `N` (default by the table's bounds)", count(&m.options.MaxRows, 1<<31))
	fs.Func("per", "what one call sees: `record|unit` (default record)", func(text string) error {
		var per string
		err := command.OneOf(&per, text, []string{"record", "unit"})
		m.options.ByUnit = per == "unit"
		return err
	})
	fs.Func("fuel", "instructions that one call may run: `N` (default 10 million)", count(&m.fuel, sandbox.MaxFuel))
	fs.Func("module-memory", "memory that the module may have, in MiB: `N` (default 16)", count(&m.memory, sandbox.MaxMemory>>20))
	fs.Func("reduce", "what to ask: `count|sum|mean|histogram|noisy-max|threshold|quantile` (default sum)", func(text string) error {
		return command.OneOf(&m.reduce, text, reducers)
	})
	fs.Func("above", "with --reduce threshold: keys of more than `N` rows, by their noisy count", func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return errors.New("want a whole number")
		}
		m.above = &n
		return nil
	})
	fs.Func("given", "numbers that every call sees after the columns: `V,...`", func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return errors.New("want numbers, as 1.5,20")
			}
			m.given = append(m.given, v)
		}
		return nil
	})
	fs.Func("quantile", "with --reduce quantile: the `Q` between 0 and 1 (default 0.5)", func(text string) (err error) {
		if m.rank, err = strconv.ParseFloat(text, 64); err != nil || !(m.rank > 0 && m.rank < 1) {
			return errors.New("want a number between 0 and 1")
		}
		return nil
	})
	fs.Func("buckets", "with --reduce quantile: of `N` equal parts of the range (default 100)", func(text string) (err error) {
		if m.buckets, err = strconv.Atoi(text); err != nil || m.buckets < 2 || m.buckets > 100_000 {
			return errors.New("want a whole number from 2 to 100000")
		}
		return nil
	})
}

func bounds(text string) (lower, upper float64, err error) {
	lo, hi, _ := strings.Cut(text, "..")
	lower, err = strconv.ParseFloat(lo, 64)
	if err == nil {
		upper, err = strconv.ParseFloat(hi, 64)
	}
	if err != nil || !(lower < upper) || math.IsInf(upper-lower, 0) {
		return 0, 0, errors.New("want two numbers in order, as 0..100")
	}
	return lower, upper, nil
}

// statement is what is asked of the table mapped.
func (m *mapping) statement(ctx context.Context, c *command.Command, s *workplace.Statement, in io.Reader, args []string) (string, error) {
	for _, f := range []struct{ name, value string }{{"module", m.module}, {"table", m.options.Of}, {"columns", strings.Join(m.options.Columns, "")}} {
		if f.value == "" {
			return "", diagnostic.New("D113", diagnostic.Span{}, "say which --%s", f.name).Try("discreet %s", c.UsageLine)
		}
	}
	if m.options.Lower == 0 && m.options.Upper == 0 {
		m.options.Upper = 1
	}
	if s.File != "" || len(args) > 0 {
		if m.reduce != "" || m.above != nil {
			return "", diagnostic.New("D115", diagnostic.Span{}, "--reduce and a statement exclude each other")
		}
		return s.Text(ctx, c, in, args)
	}
	if m.reduce = cmp.Or(m.reduce, "sum"); (m.reduce == "threshold") != (m.above != nil) {
		return "", diagnostic.New("D113", diagnostic.Span{}, "--reduce threshold and --above N belong together")
	}
	m.rank, m.buckets = cmp.Or(m.rank, 0.5), cmp.Or(m.buckets, 100)
	key, group := "key, ", " GROUP BY key ORDER BY key"
	if m.options.Keys == nil {
		if m.reduce == "histogram" || m.reduce == "noisy-max" || m.reduce == "threshold" {
			return "", diagnostic.New("D113", diagnostic.Span{}, "--reduce %s needs --keys", m.reduce)
		}
		key, group = "", ""
	}
	switch m.reduce {
	case "sum":
		return "SELECT " + key + "sum(value) FROM mapped" + group, nil
	case "mean":
		return "SELECT " + key + "avg(value) FROM mapped" + group, nil
	case "noisy-max":
		return "SELECT key, sum(value) FROM mapped GROUP BY key ORDER BY 2 DESC, 1 LIMIT 1", nil
	case "threshold": // of counts that are released, and paid for, whether or not they are shown
		return fmt.Sprintf("SELECT key, count(*) FROM mapped GROUP BY key HAVING count(*) > %d ORDER BY key", *m.above), nil
	case "quantile":
		if m.options.Keys != nil {
			return "", diagnostic.New("D115", diagnostic.Span{}, "--reduce quantile is of all values: it takes no --keys").
				Try("ask for one key with a statement of your own: WHERE key = '...'")
		}
		return fmt.Sprintf("SELECT width_bucket(value, %s, %s, %d) AS bucket, count(*) FROM mapped GROUP BY bucket ORDER BY bucket",
			literalOf(m.options.Lower), literalOf(m.options.Upper), m.buckets), nil
	}
	return "SELECT " + key + "count(*) FROM mapped" + group, nil
}

func literalOf(f float64) string {
	return "(" + strconv.FormatFloat(f, 'f', -1, 64) + ")::double precision"
}

// load reads the module and puts the table mapped into the catalog.
func (m *mapping) load(ctx context.Context, w *workplace.Workplace) (*sandbox.Mapper, worker.Job, error) {
	none := worker.Job{}
	wasm, err := os.ReadFile(m.module)
	if err != nil {
		return nil, none, workplace.Unreadable(m.module, err)
	}
	fallback, err := m.outputs()
	if err != nil {
		return nil, none, err
	}
	o := sandbox.Options{Keys: m.options.Keys, Lower: m.options.Lower, Upper: m.options.Upper, Default: fallback,
		MaxOutputs: int(m.options.Outputs), Fuel: m.fuel, Memory: m.memory << 20}
	identity, err := json.Marshal(struct {
		Module  [32]byte
		Options sandbox.Options
		Map     catalog.MapOptions
		Given   []sqltype.Value `json:",omitempty"`
	}{sha256.Sum256(wasm), o, m.options, m.given})
	if err != nil {
		return nil, none, fmt.Errorf("identify module: %w", err)
	}
	code := sha256.Sum256(identity)
	m.options.Code = hex.EncodeToString(code[:])
	if _, ok := w.Catalog.Table(m.options.Of); !ok {
		return nil, none, w.NoTable("D146", m.options.Of)
	}
	mapped, err := w.Catalog.Map(m.options)
	var sealed *catalog.Sealed
	if errors.As(err, &sealed) {
		return nil, none, sealedColumn(sealed)
	}
	if w.Catalog = mapped; err != nil {
		return nil, none, diagnostic.New("D146", diagnostic.Span{}, "the table cannot be mapped in this way: %v", err)
	}
	table, _ := w.Catalog.Table(m.options.Name)
	for _, c := range table.Mapping.Columns {
		o.Columns = append(o.Columns, sandbox.Column{Name: c.Name, Type: c.Type})
	}
	for range m.given {
		o.Columns = append(o.Columns, sandbox.Column{Name: "given", Type: sqltype.Of(sqltype.Double)})
	}
	mapper, err := sandbox.Load(ctx, wasm, o)
	if err != nil {
		return nil, none, diagnostic.New("D145", diagnostic.Span{}, "the module %s cannot be run: %s", m.module, diagnostic.Cause(err)).
			Because("nothing was charged").Try("docs/sandbox.md says what a module may import and must export")
	}
	w.Maps = map[string]engine.Map{table.Name: {Rows: m.rowsOf(here(mapper)), Unit: randomUnit(noise.System()), Room: mapper.Room()}}
	return mapper, worker.Job{Module: wasm, Options: o}, nil
}

// sealedColumn refuses a column that the owner shows to no code.
func sealedColumn(s *catalog.Sealed) error {
	d := diagnostic.New("D148", diagnostic.Span{}, "column %q of table %q is shown to no module", s.Column.Name, s.Table.Name)
	if s.Column.Mapped == nil {
		d.Because("it reads, or may be computed from, a column that the owner declared with mapped = false")
	} else {
		d.Because("the owner declared it with mapped = false")
	}
	if len(s.Others) == 0 {
		return d.Try("ask with a statement: discreet query")
	}
	return d.Try("leave it out of --columns; a module may see %s", strings.Join(s.Others, ", "))
}

// outputs reads what a failing call makes.
func (m *mapping) outputs() (all []sandbox.Output, err error) {
	if m.fallback == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(m.fallback, ",") {
		key, text, has := "", part, false
		if m.options.Keys != nil {
			key, text, has = strings.Cut(part, "=")
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || has != (m.options.Keys != nil) {
			return nil, diagnostic.New("D112", diagnostic.Span{}, "--default %s: want a number, or with --keys KEY=NUMBER", m.fallback)
		}
		all = append(all, sandbox.Output{Key: strings.TrimSpace(key), Value: v})
	}
	return all, nil
}

// Hands make calls, each of the records in one slice.
type hands func(ctx context.Context, calls [][][]sqltype.Value) ([][]sandbox.Output, error)

// here makes calls in this process.
func here(mapper *sandbox.Mapper) hands {
	return func(ctx context.Context, calls [][][]sqltype.Value) (all [][]sandbox.Output, err error) {
		for _, records := range calls {
			out, err := mapper.MapUnit(ctx, records) // with one record the same as Map
			if err != nil {
				return nil, err
			}
			all = append(all, out)
		}
		return all, nil
	}
}

// rowsOf makes the table's rows of the module's outputs.
//
// What is given is the same for every call and every record. So a module with it is another module,
// whose rows for a unit's records are a function of these records alone, and the bounds, the charge and
// the noise are those of any module. It may hang on what was answered before, as the module and the
// statement may: each is charged when it is asked, and filters allow that what is asked next depends on the
// answers (package filter has the theorems). The ledger records it as part of the code.
func (m *mapping) rowsOf(by hands) func(context.Context, []engine.Call) ([][][]sqltype.Value, error) {
	return func(ctx context.Context, calls []engine.Call) ([][][]sqltype.Value, error) {
		records := make([][][]sqltype.Value, len(calls))
		for i, c := range calls {
			records[i] = m.widened(c.Records)
		}
		outputs, err := by(ctx, records)
		if err != nil {
			return nil, err
		}
		made := make([][][]sqltype.Value, len(outputs))
		for i, call := range outputs {
			for _, o := range call {
				var row []sqltype.Value
				if m.options.Keys != nil {
					row = append(row, o.Key)
				}
				made[i] = append(made[i], append(row, o.Value))
			}
		}
		return made, nil
	}
}

// widened are records with what is given. A call whose records alone take more than the module has room for is cut off
// (calls.Gatherer), and still takes more.
func (m *mapping) widened(records [][]sqltype.Value) [][]sqltype.Value {
	if len(m.given) == 0 {
		return records
	}
	out := make([][]sqltype.Value, len(records))
	for i, r := range records {
		out[i] = slices.Concat(r, m.given)
	}
	return out
}

// randomUnit names rows that are units themselves.
func randomUnit(bits noise.Bits) func() (string, error) {
	return func() (string, error) {
		high, err := bits.Uint64()
		if err != nil {
			return "", err
		}
		low, err := bits.Uint64()
		return fmt.Sprintf("%016x%016x", high, low), err
	}
}

// quantile finds the bucket up to which the noisy counts add up to the quantile's
// share: post-processing of a released histogram. The middle of the bucket is the
// answer; there is no interval, since the counts' joint error moves it.
func (m *mapping) quantile(a *discreet.Answer) (*discreet.Answer, error) {
	total := 0.0
	for _, row := range a.Rows {
		n, ok := row[1].(int64)
		if !ok {
			return nil, fmt.Errorf("a count is a %T", row[1])
		}
		total += float64(n)
	}
	share, at := 0.0, 0
	for i, row := range a.Rows {
		share, at = share+float64(row[1].(int64)), i
		if share >= m.rank*total {
			break
		}
	}
	// Bucket 0 lies below the range, the last one above. After clamping they hold only noise, and
	// the last one values at the upper end.
	step := (m.options.Upper - m.options.Lower) / float64(m.buckets)
	value := m.options.Lower + (float64(min(max(at, 1), m.buckets))-0.5)*step
	out := *a
	out.Columns = []discreet.Column{{Name: "quantile", Type: sqltype.Of(sqltype.Double), Noisy: true,
		Why: fmt.Sprintf("it is the middle of one of %d buckets, found from their noisy counts", m.buckets)}}
	out.Rows, out.Intervals = [][]sqltype.Value{{value}}, [][]*discreet.Interval{{nil}}
	out.Notes = slices.Clone(a.Notes)
	return &out, nil
}
