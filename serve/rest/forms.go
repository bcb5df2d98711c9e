package rest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A form writes an answer in one of the ways in which it can be had.
type form func(w http.ResponseWriter, a *discreet.Answer) error

// forms are the ways, the best first where a client takes several.
var forms = []struct {
	media string
	write form
}{
	{"application/json", func(w http.ResponseWriter, a *discreet.Answer) error { return send(w, a) }},
	{"application/x-ndjson", lines},
}

// accepted chooses by the Accept header, before anything is asked: an answer that the client
// does not take would be paid for.
func accepted(r *http.Request) (form, error) {
	ranges := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(ranges) == "" {
		return forms[0].write, nil
	}
	var best form
	var most float64
	for _, f := range forms {
		if q := quality(ranges, f.media); q > most {
			best, most = f.write, q
		}
	}
	if best == nil {
		var all []string
		for _, f := range forms {
			all = append(all, f.media)
		}
		return nil, problem.Request(http.StatusNotAcceptable, "answers are not to be had in a form that the request accepts", "accept "+strings.Join(all, ", "))
	}
	return best, nil
}

// quality is how much a client wants a form, by the most specific of its ranges (RFC 9110,
// section 12.5.1).
func quality(ranges, media string) float64 {
	best, q := -1, 0.0
	family, _, _ := strings.Cut(media, "/")
	for one := range strings.SplitSeq(ranges, ",") {
		name, parameters, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		specific := -1
		switch name {
		case "*/*":
			specific = 0
		case family + "/*":
			specific = 1
		case media:
			specific = 2
		}
		if specific <= best {
			continue
		}
		weight := 1.0
		if text, is := parameters["q"]; is {
			if weight, err = strconv.ParseFloat(text, 64); err != nil || !(weight >= 0 && weight <= 1) {
				continue
			}
		}
		best, q = specific, weight
	}
	return q
}

// chunk is how many rows are written at a time.
const chunk = 256

// lines writes an answer as JSON lines: what its columns are, then each row with its
// intervals, then what it cost and how it was made.
func lines(w http.ResponseWriter, a *discreet.Answer) error {
	first, err := json.Marshal(struct {
		Columns    []discreet.Column `json:"columns"`
		Confidence float64           `json:"confidence"`
		Statement  string            `json:"statement"`
	}{a.Columns, a.Confidence, a.Statement})
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	last, err := json.Marshal(struct {
		Cost       discreet.Cost        `json:"cost"`
		Remaining  discreet.Remaining   `json:"remaining"`
		Mechanisms []discreet.Mechanism `json:"mechanisms"`
		Kept       []string             `json:"kept,omitempty"`
		Notes      []string             `json:"notes,omitempty"`
		Reused     bool                 `json:"reused,omitempty"`
	}{a.Cost, a.Remaining, a.Mechanisms, a.Kept, a.Notes, a.Reused})
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	if _, err := w.Write(append(first, '\n')); err != nil {
		return nil //nolint:nilerr // who has gone is told nothing
	}
	for from := 0; from < len(a.Rows); from += chunk {
		text, err := rows(a, from, min(from+chunk, len(a.Rows)))
		if err != nil {
			panic(http.ErrAbortHandler) // a cut answer must not look like a whole one
		}
		if _, err := w.Write(text); err != nil {
			return nil //nolint:nilerr // who has gone is told nothing
		}
	}
	_, _ = w.Write(append(last, '\n')) // the same
	return nil
}

// rows are the lines of some rows, in the form that the answer's own JSON has.
func rows(a *discreet.Answer, from, to int) ([]byte, error) {
	some := discreet.Answer{Columns: a.Columns, Rows: a.Rows[from:to]}
	if len(a.Intervals) > 0 {
		some.Intervals = a.Intervals[from:to]
	}
	whole, err := json.Marshal(&some)
	if err != nil {
		return nil, err
	}
	var parts struct{ Rows, Intervals []json.RawMessage }
	if err := json.Unmarshal(whole, &parts); err != nil {
		return nil, err
	}
	var out []byte
	for i, row := range parts.Rows {
		out = append(append(out, `{"row":`...), row...)
		if i < len(parts.Intervals) {
			out = append(append(out, `,"intervals":`...), parts.Intervals[i]...)
		}
		out = append(out, "}\n"...)
	}
	return out, nil
}
