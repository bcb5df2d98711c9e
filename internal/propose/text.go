package propose

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// sample bounds how many records types are guessed from.
const sample = 20_000

// readCSV takes the first record as the names, unless it looks like all others.
func readCSV(ctx context.Context, path string) (*table, error) {
	form, err := outer(ctx, path)
	if err != nil {
		return nil, err
	}
	rows, err := sampled(ctx, path, form)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, refusal("%s has no first record that names the columns", path)
	}
	header, rest := rows[0], rows[1:]
	said := inner(&form, rest)
	form.Null = nulls(rest)
	guesses := make([]guess, len(header))
	for i, name := range header {
		guesses[i].name = name
		for _, row := range rest {
			if i < len(row) && !missing[strings.ToLower(row[i])] {
				guesses[i].written(row[i], &form)
			}
		}
	}
	if form.NoHeader = isRecord(header, guesses, &form); form.NoHeader {
		for i := range guesses {
			guesses[i].name = fmt.Sprintf("c%d", i+1)
		}
	}
	t := &table{columns: columns(guesses), form: form, said: said}
	for i := range t.columns {
		c := &t.columns[i]
		if looksLikeKey(c.name) {
			c.once, c.few = repeated(rest, i)
		}
		if c.typ.Kind == sqltype.Text && !c.isKey() {
			amounts(c, rest, i)
		}
	}
	return t, nil
}

// many rows tell by their values what a few do not.
const many = 4

// repeated reports whether a column has each value once, in several rows, and whether it has
// two values at most in many rows.
func repeated(rows [][]string, i int) (once, few bool) {
	seen := map[string]bool{}
	once = len(rows) > 1
	for _, row := range rows {
		if i >= len(row) || seen[row[i]] {
			once = false
			continue
		}
		seen[row[i]] = true
	}
	return once, len(seen) <= 2 && len(rows) > many
}

// isRecord reports whether a first record is of the types that those after it are, and
// one of them is not text.
func isRecord(header []string, guesses []guess, form *notation.Form) bool {
	typed := 0
	for i, g := range guesses {
		kind := g.kind()
		if kind == sqltype.Text {
			continue
		}
		first := guess{}
		if first.written(header[i], form); missing[strings.ToLower(header[i])] || first.not[slices.Index(guessed[:], kind)] > 0 {
			return false
		}
		typed++
	}
	return typed > 0
}

// missing are the ways in which files write that there is no value.
var missing = map[string]bool{"": true, "na": true, "n/a": true, "nan": true, "null": true, "none": true,
	"-": true, "--": true, ".": true, "#n/a": true, `\n`: true, "n.a.": true, "#nv": true, "(null)": true,
	"k.a.": true, "k. a.": true}

// readJSONLines takes the keys of the first records, in their order.
func readJSONLines(ctx context.Context, path string) ([]column, error) {
	f, err := records.Bytes(ctx, path)
	if err != nil {
		return nil, refusal("%s cannot be opened", path)
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	var guesses []guess
	at := map[string]int{}
	for range sample {
		line, err := lines.ReadBytes('\n')
		for _, m := range members(line) {
			i, known := at[m.key]
			if !known {
				i, at[m.key] = len(guesses), len(guesses)
				guesses = append(guesses, guess{name: m.key})
			}
			guesses[i].json(m.value)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, refusal("%s cannot be read", path)
		}
	}
	return columns(guesses), nil
}

type member struct {
	key   string
	value json.RawMessage
}

// members returns an object's members in their order, or nothing of a line
// that is not an object.
func members(line []byte) (all []member) {
	d := json.NewDecoder(bytes.NewReader(line))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil
		}
		m := member{key: key.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil
		}
		all = append(all, m)
	}
	return all
}

// A guess narrows a column's type down by the values it is shown: the first type of the list
// that holds all of them, else the one that holds most, if few are left.
type guess struct {
	name   string
	not    [len(guessed)]int // values that are not of a type
	values int
	nested bool
}

var guessed = [...]sqltype.Kind{sqltype.Bigint, sqltype.Double, sqltype.Boolean, sqltype.DateKind,
	sqltype.TimestampKind, sqltype.TimeKind, sqltype.Text}

func (g *guess) text(s string) { g.written(s, &notation.Form{}) }

// written shows a value that is written in a form.
func (g *guess) written(s string, f *notation.Form) {
	g.values++
	for i, kind := range guessed {
		if g.not[i] > sample/unread {
			continue
		}
		_, err := sqltype.ParseValue(sqltype.Of(kind), string(f.Canonical(nil, []byte(s), sqltype.Of(kind))))
		words := strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
		if err != nil && kind != sqltype.Text || kind == sqltype.Boolean && !words {
			g.not[i]++
		}
	}
}

func (g *guess) json(raw json.RawMessage) {
	var s string
	switch {
	case string(raw) == "null":
	case raw[0] == '{' || raw[0] == '[':
		g.nested = true
		g.text("{")
	case raw[0] == '"' && json.Unmarshal(raw, &s) == nil:
		g.text(s)
		// A string of digits is text: JSON has numbers of its own.
		for i := range 3 {
			g.not[i] = sample
		}
	default:
		g.text(string(raw))
	}
}

// kind is the type that is guessed; text of a column without any values.
func (g *guess) kind() sqltype.Kind {
	best := -1
	for i, kind := range guessed {
		if kind != sqltype.Text && g.values > 0 && g.not[i] <= g.values/unread && (best < 0 || g.not[i] < g.not[best]) {
			best = i
		}
	}
	if best < 0 {
		return sqltype.Text
	}
	return guessed[best]
}

func columns(guesses []guess) []column {
	all := make([]column, len(guesses))
	for i, g := range guesses {
		all[i] = column{name: g.name, typ: sqltype.Of(g.kind()), guessed: true}
		if g.nested {
			all[i].note = "some values are nested: their JSON is the text"
		}
	}
	return all
}
