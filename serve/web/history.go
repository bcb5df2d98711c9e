package web

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/problem"
)

func (s *site) history() page {
	return page{path: "/history", word: "History", audience: accounts, get: s.showHistory}
}

// A historyFilter is which records are wanted, as the form has it.
type historyFilter struct {
	Text, Analyst, Kind, From, To string
	before                        int64
	from, to                      time.Time
}

// rowsOfPage is how many records a page shows.
const rowsOfPage = 50

// A historyRow is one record.
type historyRow struct {
	books.Entry
	Cost  string
	Rule  string
	Again string // where the same is asked again
}

func readHistoryFilter(q url.Values) (f historyFilter, err error) {
	f = historyFilter{Text: strings.TrimSpace(q.Get("text")), Analyst: strings.TrimSpace(q.Get("analyst")), Kind: cmp.Or(q.Get("kind"), "charges"), From: q.Get("from"), To: q.Get("to"), before: math.MaxInt64}
	for text, to := range map[string]*time.Time{f.From: &f.from, f.To: &f.to} {
		if text == "" {
			continue
		}
		if *to, err = time.Parse(time.DateOnly, text); err != nil {
			return f, problem.Request(http.StatusBadRequest, "a date is not written as 2027-01-31", "")
		}
	}
	if !f.to.IsZero() {
		f.to = f.to.AddDate(0, 0, 1)
	}
	if text := q.Get("before"); text != "" {
		if f.before, err = strconv.ParseInt(text, 10, 64); err != nil || f.before < 1 {
			return f, problem.Request(http.StatusBadRequest, "before is no record's number", "")
		}
	}
	return f, nil
}

func (f historyFilter) wants(e ledger.Entry) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(f.Text)) }
	if f.Text != "" && !has(e.Statement) && !has(e.Note) && !has(e.Kind) {
		return false
	}
	return (f.from.IsZero() || !e.Time.Before(f.from)) && (f.to.IsZero() || e.Time.Before(f.to))
}

// selection is what the ledger chooses by itself.
func (f historyFilter) selection() ledger.Selection {
	s := ledger.Selection{Before: f.before, Analyst: f.Analyst}
	switch f.Kind {
	case "charges":
		s.Kinds = []string{"reserve"}
	case "unanswered":
		s.Unanswered = true
	}
	return s
}

// looked is how many records a page looks through for words and dates.
const looked = gateway.MaxHistory

// selected are the newest records that are wanted, of so many as a page looks through, and
// the one before which an older page begins; 0 if there is none.
func (s *site) selected(v *visit, f historyFilter) (rows []ledger.Entry, last int64, err error) {
	of := f.selection()
	of.Limit = rowsOfPage + 1
	if f.Text != "" || f.From != "" || f.To != "" {
		of.Limit = looked
	}
	records, err := s.Gateway.History(v.r.Context(), v.who, of)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range records {
		if !f.wants(e) {
			continue
		}
		if len(rows) == rowsOfPage {
			return rows, rows[rowsOfPage-1].Seq, nil
		}
		rows = append(rows, e)
	}
	if len(records) == of.Limit {
		last = records[len(records)-1].Seq
	}
	return rows, last, nil
}

func (s *site) showHistory(v *visit) error {
	f, err := readHistoryFilter(v.r.URL.Query())
	if err != nil {
		return err
	}
	balances, err := s.Gateway.Budget(v.r.Context(), v.who)
	if err != nil {
		return err
	}
	measures := map[string]filter.Measure{}
	for _, b := range balances {
		measures[b.ID] = b.Measure
	}
	data := struct {
		historyFilter
		Rows  []historyRow
		Older string
		Whole bool
	}{historyFilter: f, Whole: v.who.Account.Role == people.Owner}
	records, last, err := s.selected(v, f)
	if err != nil {
		return err
	}
	if last > 0 {
		q := v.r.URL.Query()
		q.Set("before", strconv.FormatInt(last, 10))
		data.Older = "/history?" + q.Encode()
	}
	rules := map[int64]string{}
	for _, e := range records {
		if e.Rule != nil {
			rules[e.Seq] = ruled(e.Rule)
		}
	}
	for _, e := range books.NewEntries(records, measures) {
		row := historyRow{Entry: e, Rule: rules[e.Record]}
		if e.Charge != nil {
			row.Cost = charged(e.Charge.Amounts)
		}
		if e.Kind == "reserve" && e.Analyst == v.who.Account.Name && len(e.Statement) < maxForm/2 && !withParameters(e.Parameters) {
			row.Again = "/ask?" + url.Values{"sql": {e.Statement}}.Encode()
		}
		data.Rows = append(data.Rows, row)
	}
	return v.show(http.StatusOK, "history", "History", data)
}

// withParameters reports whether a statement had values for $1 and so on; if that cannot be
// read, it had.
func withParameters(options json.RawMessage) bool {
	var o struct {
		Parameters []json.RawMessage `json:"values"`
	}
	return len(options) > 0 && json.Unmarshal(options, &o) != nil || len(o.Parameters) > 0
}

// ruled words a rule. What passwords and tokens are checked by is left out.
func ruled(r *ledger.Rule) string {
	text := r.Subject + ": " + strings.TrimSpace(r.Name+" "+r.Object)
	switch r.Name {
	case "password", "token":
		return text
	}
	if r.Lifted() {
		return text + " lifted"
	}
	return text + " " + string(r.Body)
}
