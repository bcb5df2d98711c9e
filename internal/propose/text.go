package propose

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/internal/records"
	"github.com/discreet-dp/discreet/sqltype"
)

// sample bounds how many records types are guessed from.
const sample = 20_000

// readCSV takes the first record as the names, whatever it looks like: a
// header is not guessed.
func readCSV(ctx context.Context, path string) ([]column, error) {
	r, err := records.OpenCSV(ctx, path, records.CSVOptions{})
	if errors.Is(err, records.ErrNoHeader) {
		return nil, refusal("%s has no first record that names the columns", path)
	}
	if err != nil {
		return nil, refusal("%s cannot be opened", path)
	}
	defer r.Close()
	guesses := make([]guess, len(r.Header()))
	for i, name := range r.Header() {
		guesses[i].name = name
	}
	for range sample {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, refusal("%s cannot be read", path)
		}
		if record.Malformed { // it tells nothing of the types
			continue
		}
		for i, field := range record.Fields {
			if !missing[strings.ToLower(string(field))] {
				guesses[i].text(string(field))
			}
		}
	}
	return columns(guesses), nil
}

// missing are the ways in which files write that there is no value.
var missing = map[string]bool{"": true, "na": true, "n/a": true, "nan": true, "null": true, "none": true}

// readJSONLines takes the keys of the first records, in their order.
func readJSONLines(path string) ([]column, error) {
	f, err := os.Open(path)
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

// A guess narrows a column's type down by the values it is shown: the first
// type of the list that holds all of them.
type guess struct {
	name   string
	ruled  [len(guessed)]bool // out
	values bool
	nested bool
}

var guessed = [...]sqltype.Kind{sqltype.Bigint, sqltype.Double, sqltype.Boolean, sqltype.DateKind,
	sqltype.TimestampKind, sqltype.TimeKind, sqltype.Text}

func (g *guess) text(s string) {
	g.values = true
	for i, kind := range guessed {
		if g.ruled[i] {
			continue
		}
		_, err := sqltype.ParseValue(sqltype.Of(kind), s)
		words := strings.EqualFold(s, "true") || strings.EqualFold(s, "false")
		g.ruled[i] = err != nil && kind != sqltype.Text || kind == sqltype.Boolean && !words
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
		g.ruled[0], g.ruled[1], g.ruled[2] = true, true, true
	default:
		g.text(string(raw))
	}
}

func columns(guesses []guess) []column {
	all := make([]column, len(guesses))
	for i, g := range guesses {
		all[i] = column{name: g.name, typ: sqltype.Of(sqltype.Text), guessed: true}
		for j, kind := range guessed {
			if g.values && !g.ruled[j] {
				all[i].typ = sqltype.Of(kind)
				break
			}
		}
		if g.nested {
			all[i].note = "some values are nested: their JSON is the text"
		}
	}
	return all
}
