//go:build cgo

package rmse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

var (
	adult  = flag.String("adult", "", "adult-train.csv; an absolute path")
	visits = flag.String("visits", "", "visits.parquet, as discreet demo --files makes it; an absolute path")
	least  = flag.Int("errors", 120, "how many errors a mean is over, at least")
	alone  = flag.Bool("alone", false, "measure Discreet alone")
	kept   = flag.String("kept", "", "a `FOLDER` in which what was measured is kept, and from which that of others is read again")
)

// A truth is what a statement's answer is without bounds and noise.
type truth struct {
	Keys   [][]string  `json:"keys"`
	Values [][]float64 `json:"values"`
}

// An input is what other libraries read: the workload, the data as CSV, the truth by statement.
type input struct {
	Workload json.RawMessage     `json:"workload"`
	Folder   string              `json:"folder"`
	Domains  map[string][]string `json:"domains"` // by column, all tables together
	Truth    map[string]truth    `json:"truth"`
	Errors   int                 `json:"errors"`
}

// A measured is the error of each aggregate, by statement and epsilon. A statement that a library
// does not answer is not in it.
type measured map[string]map[string][]float64

// TestErrors prints two tables: the errors of each statement, and the means of their ratios. It asserts nothing: noise is new each time.
func TestErrors(t *testing.T) {
	if *adult == "" || *visits == "" {
		t.Skip("a measurement, made with -adult and -visits")
	}
	if err := run(t.Context(), os.Stdout); err != nil {
		t.Fatal(err)
	}
}

// libraries are the others, by the names of their environments below bench/peers.
var libraries = []struct{ name, venv string }{
	{"SmartNoise SQL", "venv-smartnoise"}, {"OpenDP Polars", "venv-polars"}, {"PipelineDP (Google)", "venv-google"},
}

func run(ctx context.Context, w io.Writer) (err error) {
	q, err := read()
	if err != nil {
		return err
	}
	dir := *kept
	if dir == "" {
		if dir, err = os.MkdirTemp("", "rmse"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	plain, err := duckdb.OpenOwner(ctx, duckdb.Options{Memory: "2GB", Threads: 2, Temp: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plain.Close()) }()
	in, err := prepare(ctx, plain, q, dir)
	if err != nil {
		return err
	}
	if err := keep("input", in); err != nil { // for others by hand
		return err
	}
	own, err := ours(ctx, q, in)
	if err != nil {
		return err
	}
	all := []measured{own}
	names := []string{"Discreet"}
	for _, l := range libraries {
		if *alone {
			break
		}
		m, err := theirs(ctx, l.venv, in)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		if m == nil {
			fmt.Fprintf(w, "%s is not here: bench/peers/setup %s\n", l.name, strings.TrimPrefix(l.venv, "venv-"))
			continue
		}
		all, names = append(all, m), append(names, l.name)
	}
	return report(w, q, in, names, all)
}

// prepare writes the data as all libraries read them, rows with a missing value left out, and finds the truth.
func prepare(ctx context.Context, plain engine.Owner, q questions, dir string) (*input, error) {
	in := &input{Workload: workload, Folder: dir, Domains: map[string][]string{}, Truth: map[string]truth{}, Errors: *least}
	do := func(sql string) ([][]any, error) {
		_, rows, err := plain.Rows(ctx, sql)
		return rows, err
	}
	made := map[string]string{
		"adult": fmt.Sprintf("SELECT * FROM read_csv('%s')", *adult),
		"visits": fmt.Sprintf(`SELECT patient_id, department, age, sex, cost, extract(month FROM seen_at)::INTEGER AS visit_month FROM read_parquet('%s')
			WHERE age IS NOT NULL AND sex IS NOT NULL AND cost IS NOT NULL`, *visits),
	}
	for name, sql := range made {
		for _, text := range []string{
			fmt.Sprintf("CREATE TABLE %s AS %s", name, sql),
			fmt.Sprintf("COPY %s TO '%s' (HEADER)", name, filepath.Join(dir, name+".csv")),
			fmt.Sprintf("CREATE VIEW %s_private AS SELECT * FROM %s", name, name),
		} {
			if _, err := do(text); err != nil {
				return nil, err
			}
		}
		for _, column := range append(q.Tables[name].Texts, q.Tables[name].Months...) {
			rows, err := do(fmt.Sprintf("SELECT v::VARCHAR FROM (SELECT DISTINCT %s AS v FROM %s) ORDER BY v", column, name))
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				in.Domains[column] = append(in.Domains[column], fmt.Sprint(row[0]))
			}
		}
	}
	for _, s := range q.Statements {
		rows, err := do("SELECT COLUMNS(*)::VARCHAR FROM (" + s.sql(q.Tables[s.Table]) + ")")
		if err != nil {
			return nil, err
		}
		var is truth
		for _, row := range rows {
			key, values := []string{}, []float64{}
			for i, v := range row {
				if i < len(s.Keys) {
					key = append(key, fmt.Sprint(v))
					continue
				}
				x, err := strconv.ParseFloat(fmt.Sprint(v), 64)
				if err != nil {
					return nil, err
				}
				values = append(values, x)
			}
			is.Keys, is.Values = append(is.Keys, key), append(is.Values, values)
		}
		in.Truth[s.ID] = is
	}
	return in, nil
}

// declared is the catalog. Its budget is large: what a statement costs is what is compared.
func declared(q questions, in *input) string {
	text := "[domains.person]\nmeasure = \"approx\"\nepsilon = 1000000.0\ndelta = 0.5\n"
	for _, name := range []string{"adult", "visits"} {
		t := q.Tables[name]
		for _, private := range []bool{false, true} {
			shown := name
			if private {
				shown += "_private"
			}
			text += fmt.Sprintf("\n[tables.%s]\nsource = %q\ndomain = \"person\"\n", shown, filepath.Join(in.Folder, name+".csv"))
			if t.Unit == "" {
				text += "unit = \"row\"\n"
			} else {
				text += fmt.Sprintf("unit = %q\nmax_groups_per_unit = %d\nmax_rows_per_group = %d\n", t.Unit, t.MaxGroups, t.MaxRows)
			}
			text += fmt.Sprintf("[tables.%s.columns]\n", shown)
			if t.Unit != "" {
				text += t.Unit + " = { type = \"bigint\" }\n"
			}
			for column, b := range t.Bounds {
				kind := "integer"
				if column == "cost" {
					kind = "double"
				}
				text += fmt.Sprintf("%s = { type = %q, lower = %d, upper = %d }\n", column, kind, b[0], b[1])
			}
			for _, column := range t.Texts {
				domain := ""
				if !private {
					values, _ := json.Marshal(in.Domains[column])
					domain = ", domain = " + string(values)
				}
				text += fmt.Sprintf("%s = { type = \"text\"%s }\n", column, domain)
			}
			for _, column := range t.Months {
				text += fmt.Sprintf("%s = { type = \"integer\", lower = 1, upper = 12, step = 1 }\n", column)
			}
		}
	}
	return text
}

// draws is how often a statement is asked.
func draws(is truth, least int) int {
	return max(4, (least+len(is.Keys)-1)/len(is.Keys))
}

func ours(ctx context.Context, q questions, in *input) (_ measured, err error) {
	path := filepath.Join(in.Folder, "discreet.toml")
	if err := os.WriteFile(path, []byte(declared(q, in)), 0o600); err != nil {
		return nil, err
	}
	book := filepath.Join(in.Folder, "discreet.ledger")
	if err := os.Remove(book); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	c, err := catalog.Load(path)
	if err != nil {
		return nil, err
	}
	e, err := duckdb.Open(ctx, c, duckdb.Options{Memory: "2GB", Threads: 2, Temp: in.Folder})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	l, err := ledger.Create(ctx, book, ledger.Options{Domains: discreet.Budgets(c), Now: time.Now()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	db, err := discreet.Open(ctx, discreet.Config{Catalog: c, Engine: e, Ledger: l})
	if err != nil {
		return nil, err
	}
	delta, err := privacy.ParseDelta(q.Delta)
	if err != nil {
		return nil, err
	}
	out, err := held("discreet")
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = measured{}
	}
	for _, s := range q.Statements {
		if len(out[s.ID]) == len(q.Epsilons) {
			continue
		}
		out[s.ID] = map[string][]float64{}
		for _, text := range q.Epsilons {
			epsilon, err := privacy.ParseEpsilon(text)
			if err != nil {
				return nil, err
			}
			squares := make([]float64, len(s.Aggregates))
			is := in.Truth[s.ID]
			n := draws(is, in.Errors)
			for range n {
				a, err := db.Query(ctx, s.sql(q.Tables[s.Table]), &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: epsilon, Delta: delta}, Fresh: true})
				if err != nil {
					return nil, fmt.Errorf("%s: %w", s.ID, err)
				}
				if err := s.add(squares, q.Tables[s.Table], is, a); err != nil {
					return nil, err
				}
			}
			for i, sum := range squares {
				if f := s.Aggregates[i][0]; f != "avg" && f != "stddev" { // of whole numbers, an error that was never made counts as one of a half
					sum = max(sum, 0.25)
				}
				out[s.ID][text] = append(out[s.ID][text], math.Sqrt(sum/float64(n*len(is.Keys))))
			}
		}
		if err := keep("discreet", out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add adds the squares of an answer's errors. A group that is not shown has the count and the sum 0, and an average in
// the middle of the bounds.
func (s statement) add(squares []float64, t table, is truth, a *discreet.Answer) error {
	shown := map[string][]float64{}
	for _, row := range a.Rows {
		var key []string
		var values []float64
		for i, v := range row {
			if i < len(s.Keys) {
				key = append(key, sqltype.Format(v))
				continue
			}
			x, err := strconv.ParseFloat(sqltype.Format(v), 64)
			if err != nil {
				return err
			}
			values = append(values, x)
		}
		shown[strings.Join(key, "\x00")] = values
	}
	for g, key := range is.Keys {
		values := shown[strings.Join(key, "\x00")]
		for i, g1 := range s.Aggregates {
			x := s.unknown(g1, t)
			if values != nil {
				x = values[i]
			}
			d := x - is.Values[g][i]
			squares[i] += d * d
		}
	}
	return nil
}

func (s statement) unknown(aggregate [2]string, t table) float64 {
	b := t.Bounds[aggregate[1]]
	switch aggregate[0] {
	case "avg", "median":
		return float64(b[0]+b[1]) / 2
	case "stddev":
		return float64(b[1]-b[0]) / 2
	}
	return 0
}

// theirs asks another library what it was not asked before; nil where it is not installed.
func theirs(ctx context.Context, venv string, in *input) (m measured, err error) {
	python := filepath.Join("..", "peers", venv, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		return held(venv)
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	args := []string{"../peers/queries.py", strings.TrimPrefix(venv, "venv-")}
	if *kept != "" { // it keeps what it measures statement by statement
		args = append(args, filepath.Join(*kept, venv+".json"))
	}
	c := exec.CommandContext(ctx, python, args...)
	c.Stdin, c.Stderr = bytes.NewReader(text), os.Stderr
	reply, err := c.Output()
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(reply, &m); err != nil {
		return nil, err
	}
	return m, nil
}

// held reads what was measured before, where a folder for that is named; nil where nothing was.
func held(name string) (m measured, err error) {
	if *kept == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.Join(*kept, name+".json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return m, json.Unmarshal(text, &m)
}

// keep writes what was measured, where a folder for that is named.
func keep(name string, v any) error {
	if *kept == "" {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(*kept, name+".json"), text, 0o600)
}

// report prints the error of each statement, and the geometric means of the ratios.
func report(w io.Writer, q questions, in *input, names []string, all []measured) error {
	fmt.Fprintf(w, "| Statement | Of | ε | %s |\n|---|---|---|%s\n", strings.Join(names, " | "), strings.Repeat("---|", len(names)))
	logs := make([]map[string][]ratio, len(all))
	for i := range logs {
		logs[i] = map[string][]ratio{}
	}
	for _, s := range q.Statements {
		for _, epsilon := range q.Epsilons {
			for a, g := range s.Aggregates {
				cells := []string{s.ID, strings.TrimSuffix(g[0]+" "+g[1], " *"), epsilon}
				for _, m := range all {
					if of, ok := m[s.ID][epsilon]; ok {
						cells = append(cells, strconv.FormatFloat(of[a], 'g', 3, 64))
					} else {
						cells = append(cells, "")
					}
				}
				fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
			}
			for i, m := range all {
				of, ok := m[s.ID][epsilon]
				if !ok {
					continue
				}
				mean := 0.0
				for a := range of {
					mean += math.Log(all[0][s.ID][epsilon][a]/of[a]) / float64(len(of))
				}
				is := in.Truth[s.ID]
				logs[i][epsilon] = append(logs[i][epsilon], ratio{mean, 2 * spread(draws(is, in.Errors)*len(is.Keys))})
			}
		}
	}
	fmt.Fprintf(w, "\n| Discreet's error over that of | Answered | %s | All |\n|---|---|%s---|\n", "ε "+strings.Join(q.Epsilons, " | ε "), strings.Repeat("---|", len(q.Epsilons)))
	for i := range all[1:] {
		cells := []string{names[i+1], fmt.Sprintf("%d of %d", len(all[i+1]), len(q.Statements))}
		var together []ratio
		for _, epsilon := range q.Epsilons {
			cells = append(cells, geometric(logs[i+1][epsilon]))
			together = append(together, logs[i+1][epsilon]...)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(append(cells, geometric(together)), " | "))
	}
	return nil
}

// A ratio is the logarithm of one error over another, with its variance.
type ratio struct{ log, variance float64 }

// spread is the variance of the logarithm of a root mean square over n errors, of a law whose tails are no heavier
// than those of Laplace's, whose fourth moment is six times the square of its second: (6 - 1)/n is that of the mean
// square, relative to it.
func spread(n int) float64 { return 5 / float64(n) / 4 }

// geometric is the geometric mean of ratios, with the interval that holds it with 95% confidence over the draws of noise.
// The statements are fixed. Ratios of one statement count as one, since its aggregates share draws.
func geometric(all []ratio) string {
	sum, variance := 0.0, 0.0
	for _, r := range all {
		sum, variance = sum+r.log, variance+r.variance
	}
	n := float64(len(all))
	mean, half := sum/n, 1.96*math.Sqrt(variance)/n
	if math.IsNaN(mean) || math.IsInf(mean, 0) {
		return "?"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", math.Exp(mean), math.Exp(mean-half), math.Exp(mean+half))
}
