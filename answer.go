package discreet

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/privacy/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// An Answer is a statement's released result.
type Answer struct {
	Columns   []Column
	Rows      [][]sqltype.Value
	Intervals [][]*Interval // of the shape of Rows; nil where a value is exact or has none

	Confidence float64
	Cost       Cost
	// Pilot is what a pilot was charged before, which found out what an accuracy costs; nil if none was.
	Pilot      *Cost
	Remaining  Remaining
	Mechanisms []Mechanism
	// Kept names what chose rows by noisy values: "group selection", "HAVING", "a condition",
	// "LIMIT", "JOIN". Values that were kept for their size are biased.
	Kept []string
	// Notes are what a reader must know to use the numbers rightly.
	Notes     []string
	Statement string
	// Reused says that this is a stored answer, and nothing was charged for it now. Of a repetition
	// Cost is what was charged at first; of an answer that others paid for, or that is more precise, it is 0.
	Reused bool
}

// A Column describes one column of an answer.
type Column struct {
	Name  string       `json:"name"`
	Type  sqltype.Type `json:"-"`
	Noisy bool         `json:"noisy"`
	// Why says why a noisy column has no intervals.
	Why string `json:"why,omitempty"`
}

// An Interval holds the value that the statement would have had without noise,
// after clamping and bounding of contributions, with the answer's confidence.
// What bounds cut off is not covered.
type Interval struct{ Lower, Upper sqltype.Value }

// MarshalJSON adds the type's name.
func (c Column) MarshalJSON() ([]byte, error) {
	type plain Column
	return json.Marshal(struct {
		Name string `json:"name"`
		Type string `json:"type"`
		plain
	}{c.Name, c.Type.String(), plain(c)})
}

// MarshalJSON writes [lower, upper].
func (i Interval) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{jsonValue(i.Lower), jsonValue(i.Upper)})
}

// jsonValue is a value as JSON has it: numbers as numbers (decimals digit by
// digit), NULL as null, everything else as PostgreSQL's text.
func jsonValue(v sqltype.Value) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v
	case sqltype.Decimal:
		return json.Number(v.String())
	}
	return sqltype.Format(v)
}

// answerJSON is the contract's form.
type answerJSON struct {
	Columns    []Column      `json:"columns"`
	Rows       [][]any       `json:"rows"`
	Intervals  [][]*Interval `json:"intervals"`
	Confidence float64       `json:"confidence"`
	Cost       Cost          `json:"cost"`
	Pilot      *Cost         `json:"pilot,omitempty"`
	Remaining  Remaining     `json:"remaining"`
	Mechanisms []Mechanism   `json:"mechanisms"`
	Kept       []string      `json:"kept,omitempty"`
	Notes      []string      `json:"notes,omitempty"`
	Statement  string        `json:"statement"`
	Reused     bool          `json:"reused,omitempty"`
}

// MarshalJSON writes the contract's form.
func (a *Answer) MarshalJSON() ([]byte, error) { return json.Marshal(a.json()) }

func (a *Answer) json() answerJSON {
	out := answerJSON{a.Columns, make([][]any, len(a.Rows)), a.Intervals, a.Confidence, a.Cost, a.Pilot, a.Remaining, a.Mechanisms, a.Kept, a.Notes, a.Statement, a.Reused}
	if out.Intervals == nil {
		out.Intervals = [][]*Interval{}
	}
	for i, row := range a.Rows {
		out.Rows[i] = make([]any, len(row))
		for j, v := range row {
			out.Rows[i][j] = jsonValue(v)
		}
	}
	return out
}

// columns describes the columns of a statement's answer.
func (s *statement) columns() []Column {
	var out []Column
	for i, c := range s.certificate.Post.Columns() {
		out = append(out, Column{Name: c.Name, Type: c.Type, Noisy: s.post.Columns[i].Noisy, Why: s.post.Columns[i].Why})
	}
	return out
}

// UnmarshalJSON reads what MarshalJSON writes: a stored answer.
func (a *Answer) UnmarshalJSON(data []byte) error {
	var in struct {
		answerJSON
		Columns   []column                `json:"columns"`
		Rows      [][]json.RawMessage     `json:"rows"`
		Intervals [][]*[2]json.RawMessage `json:"intervals"`
		Cost      charged                 `json:"cost"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	*a = Answer{Confidence: in.Confidence, Remaining: in.Remaining, Mechanisms: in.Mechanisms,
		Kept: in.Kept, Notes: in.Notes, Statement: in.Statement, Reused: in.Reused}
	var err error
	if a.Cost, err = in.Cost.read(); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if a.Columns, err = readColumns(in.Columns); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	for i, row := range in.Rows {
		if len(row) != len(a.Columns) || i < len(in.Intervals) && len(in.Intervals[i]) != len(row) {
			return fmt.Errorf("read answer: row %d has another number of columns", i)
		}
		values, intervals := make([]sqltype.Value, len(row)), make([]*Interval, len(row))
		for j, raw := range row {
			var err error
			if values[j], err = readValue(a.Columns[j].Type, raw); err != nil {
				return fmt.Errorf("read answer: %w", err)
			}
			if i >= len(in.Intervals) || in.Intervals[i][j] == nil {
				continue
			}
			intervals[j] = &Interval{}
			if intervals[j].Lower, err = readValue(a.Columns[j].Type, in.Intervals[i][j][0]); err != nil {
				return fmt.Errorf("read answer: %w", err)
			}
			if intervals[j].Upper, err = readValue(a.Columns[j].Type, in.Intervals[i][j][1]); err != nil {
				return fmt.Errorf("read answer: %w", err)
			}
		}
		a.Rows, a.Intervals = append(a.Rows, values), append(a.Intervals, intervals)
	}
	return nil
}

// A charged is a Cost as it is written.
type charged struct {
	Cost
	Events []json.RawMessage `json:"events"`
}

func (c charged) read() (Cost, error) {
	out := c.Cost
	out.Events = []privacy.Event{}
	for _, raw := range c.Events {
		e, err := plan.UnmarshalEvent(raw)
		if err != nil {
			return Cost{}, err
		}
		out.Events = append(out.Events, e)
	}
	return out, nil
}

// A column is a Column as it is written.
type column struct {
	Column
	Type string `json:"type"`
}

func readColumns(all []column) (out []Column, err error) {
	for _, c := range all {
		t, err := sqltype.Parse(c.Type)
		if err != nil && c.Type != "null" {
			return nil, err
		}
		c.Column.Type = t
		out = append(out, c.Column)
	}
	return out, nil
}

// readValue is the inverse of jsonValue for a type.
func readValue(t sqltype.Type, raw json.RawMessage) (sqltype.Value, error) {
	text := string(raw)
	if text == "null" {
		return nil, nil
	}
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
	}
	switch {
	case t.Kind == sqltype.IntervalKind:
		return text, nil // shown as it is: nothing computes with an answer's intervals of time
	case t.Kind == sqltype.TimeKind && text == "24:00:00": // of a table; no constant is that
		return sqltype.Time(24 * time.Hour / time.Microsecond), nil
	}
	return sqltype.ParseValue(t, text)
}
