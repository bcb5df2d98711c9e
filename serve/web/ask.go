package web

import (
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/display"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/serve/problem"
	"github.com/discreet-dp/discreet/serve/request"
)

func (s *site) asking() page {
	return page{path: "/ask", word: "Ask", script: "ask.js", audience: accounts, form: request.MaxBytes,
		get: s.showAsking, post: s.doAsk}
}

// explaining is what the script of the page asks while somebody types: a part of the page.
func (s *site) explaining() page {
	return page{path: "/ask/explain", audience: accounts, form: request.MaxBytes, post: func(v *visit) error {
		f := read(v.form)
		// What is wrong with a statement is no failure of the page.
		return v.part(http.StatusOK, "ask", "explanation", s.explained(v, &f))
	}}
}

// A statement is what the form of the page asks, as it was written.
type statement struct {
	SQL           string
	Unit          string // of the amount: "rho", "epsilon", or "accuracy", an error
	Amount, Delta string
	Confidence    string
	Fresh, Free   bool
	Wanted, About string // an error, and a value that it is a share of
	Nonce         string // of this form: sending it twice asks once
}

func read(form url.Values) statement {
	f := statement{SQL: form.Get("sql"), Unit: form.Get("unit"), Fresh: form.Get("fresh") != "", Free: form.Get("free") != "", Nonce: form.Get("nonce")}
	for name, to := range map[string]*string{"amount": &f.Amount, "delta": &f.Delta, "confidence": &f.Confidence, "wanted": &f.Wanted, "about": &f.About} {
		*to = strings.TrimSpace(form.Get(name))
	}
	if f.Unit != "rho" && f.Unit != "accuracy" {
		f.Unit = "epsilon"
	}
	return f
}

// request reads the form as a program's request is read: the same amounts, the same
// refusals.
func (f *statement) request() (*request.Statement, error) {
	if strings.TrimSpace(f.SQL) == "" {
		return nil, problem.Request(http.StatusBadRequest, "there is no statement", "write one, such as SELECT count(*) FROM visits")
	}
	members := map[string]any{"sql": f.SQL, "fresh": f.Fresh, "free": f.Free}
	for name, value := range map[string]string{f.Unit: f.Amount, "delta": f.Delta, "confidence": f.Confidence} {
		if value != "" {
			members[name] = value
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	return request.ParseStatement(text)
}

// An asked page is the form with what came of it.
type askedPage struct {
	statement
	Completion completion
	Explained  explained
	Answer     *answered
	Gone       bool // an answer that is not kept any more
}

// blank is the form before anything is written: with what a statement of the account
// spends by default, or an amount that is small in any budget.
func (s *site) blank(v *visit) statement {
	f := statement{Unit: "epsilon", Amount: "0.1"}
	if d := v.who.Account.Spend(); d.Rho.Sign() > 0 {
		f.Unit, f.Amount = "rho", d.Rho.String()
	} else if d.Epsilon.Sign() > 0 {
		f.Amount = d.Epsilon.String()
	} else if slices.ContainsFunc(s.Gateway.Catalog(v.who).Domains, zeroConcentrated) {
		f.Unit, f.Amount = "rho", "0.01"
	}
	return f
}

func (s *site) showAsking(v *visit) error {
	f := s.blank(v)
	q := v.r.URL.Query()
	if f.SQL = q.Get("sql"); len(f.SQL) > maxForm {
		f.SQL = ""
	}
	data := askedPage{statement: f}
	if f.SQL != "" {
		data.Explained = s.explained(v, &f)
	}
	return s.showForm(v, http.StatusOK, data)
}

func (s *site) showForm(v *visit, status int, data askedPage) (err error) {
	if data.Nonce, err = random(); err != nil {
		return err
	}
	data.Completion = s.completion(v)
	return v.show(status, "ask", "Ask", data)
}

// doAsk asks, or explains where the form says so.
func (s *site) doAsk(v *visit) error {
	f := read(v.form)
	data := askedPage{statement: f}
	if v.form.Get("do") != "ask" {
		data.Explained = s.explained(v, &f)
		return s.showForm(v, http.StatusOK, data)
	}
	a, err := s.answer(v, &f)
	if err != nil {
		data.Explained.Problem = problemOf(err, f.SQL)
		return s.showForm(v, data.Explained.Problem.Status, data)
	}
	id, err := v.sessions.keep(v.session, f, a)
	if err != nil {
		return err
	}
	return v.to("/ask/answer/" + id)
}

func (s *site) answer(v *visit, f *statement) (*discreet.Answer, error) {
	r, err := f.request()
	if err != nil {
		return nil, err
	}
	o := r.Options()
	if f.Fresh {
		// Who sends one form twice, by a second click or by loading again, asks once.
		o.IdempotencyKey = f.key()
	}
	// A statement that is about to be charged is finished though its asker has gone: who asks
	// again finds the answer stored.
	o.Finish = true
	return s.Gateway.Query(v.r.Context(), v.who, r.SQL, o)
}

// explained is what is known of a statement before it is asked.
type explained struct {
	*discreet.Explanation
	Problem *stated
	Cost    string
	Left    string
	Rows    []errorRow
	Wanted  string // the error that was asked for
	Price   bool   // rows have prices
}

// An errorRow is how far the values of a column will lie off.
type errorRow struct {
	Column, Error, Assumed, Price, Priced string
	Behind                                bool // it is of a choice
}

// A stated problem is one of a statement, with the line where it is.
type stated struct {
	*problem.Problem
	Before, At, After string // the line, in three parts
}

func problemOf(err error, sql string) *stated {
	p := &stated{Problem: problem.Of(err)}
	lines := strings.Split(sql, "\n")
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 {
		return p
	}
	line := []rune(strings.TrimSuffix(lines[p.Line-1], "\r"))
	from := min(p.Column-1, len(line))
	to := min(from+max(p.Length, 1), len(line))
	p.Before, p.At, p.After = string(line[:from]), string(line[from:to]), string(line[to:])
	return p
}

// explained explains: nothing is charged, and no private data are looked at.
func (s *site) explained(v *visit, f *statement) (data explained) {
	if strings.TrimSpace(f.SQL) == "" {
		return data
	}
	r, err := f.request()
	if err != nil {
		return explained{Problem: problemOf(err, f.SQL)}
	}
	e, err := s.Gateway.Explain(v.r.Context(), v.who, r.SQL, r.Options())
	if err != nil {
		return explained{Problem: problemOf(err, f.SQL)}
	}
	data = explained{Explanation: e, Cost: charged(e.Cost.Amounts)}
	if e.Remaining != nil {
		data.Left = amounts(e.Remaining.In(e.Remaining.Measure), numeric.FloorDigits)
	}
	for _, x := range e.ExpectedError {
		row := errorRow{Column: x.Column, Error: short(x.Error), Behind: x.Behind}
		if x.Of != "" {
			row.Column = x.Of + ", of which " + x.Column + " is computed"
		}
		if x.AssumedCount > 0 {
			row.Assumed = short(float64(x.AssumedCount))
		}
		data.Rows = append(data.Rows, row)
	}
	if f.Wanted != "" && f.Unit != "accuracy" && !f.Free { // which have their price already
		s.price(v, f, r, &data)
	}
	return data
}

// An answered statement, laid out.
type answered struct {
	ID                string
	Cost, Left        string
	Reused            bool
	Columns           []display.Column
	Lines             [][]cell
	More              int // rows that are not shown
	All               int
	Chart             template.HTML
	Notes             []string
	Mechanisms        []mechanismRow
	Confidence, Asked string
}

type cell struct {
	Text          string
	Right, Beside bool
}

// shownRows is how many rows of an answer a page shows; all are in the download.
const shownRows = 500

func (s *site) showAnswer(v *visit) error {
	k := v.sessions.kept(v.session, v.r.PathValue("id"))
	if k == nil {
		return s.showForm(v, http.StatusNotFound, askedPage{statement: s.blank(v), Gone: true})
	}
	laid, err := layOut(k)
	if err != nil {
		return err
	}
	data := askedPage{statement: k.statement, Answer: laid}
	data.Fresh = false // a second answer is asked for, not loaded
	return s.showForm(v, http.StatusOK, data)
}

func layOut(k *kept) (*answered, error) {
	a := k.answer
	out := &answered{ID: k.id, Cost: charged(a.Cost.Amounts), Reused: a.Reused, Columns: display.Columns(a), All: len(a.Rows), Confidence: display.Percent(a.Confidence), Mechanisms: mechanisms(a.Mechanisms)}
	if a.Remaining.Measure != "" {
		out.Left = amounts(a.Remaining.In(a.Remaining.Measure), numeric.FloorDigits)
	}
	for i := range min(len(a.Rows), shownRows) {
		var line []cell
		for _, c := range out.Columns {
			line = append(line, cell{c.Cells[i], c.Right, c.Beside})
		}
		out.Lines = append(out.Lines, line)
	}
	out.More = len(a.Rows) - len(out.Lines)
	out.Notes = append(out.Notes, display.KeptWords(a.Kept)...)
	for _, c := range a.Columns {
		if c.Noisy && c.Why != "" {
			out.Notes = append(out.Notes, c.Name+" has no interval: "+c.Why)
		}
	}
	out.Notes = append(out.Notes, a.Notes...)
	if len(a.Rows) == 0 || display.Drawable(a.Columns) != nil {
		return out, nil
	}
	var err error
	out.Chart, err = figure(display.Draw(a))
	return out, err
}

// download sends an answer that is kept as a file. It asks nothing, so it costs nothing.
func (s *site) download(form string) page {
	return page{path: "/ask/answer/{id}/" + form, audience: accounts, get: func(v *visit) error {
		k := v.sessions.kept(v.session, v.r.PathValue("id"))
		if k == nil {
			return problem.Request(http.StatusNotFound, "the answer is not kept here any more", "ask again: what was answered is answered again for free")
		}
		h := v.w.Header()
		h.Set("Content-Disposition", `attachment; filename="discreet-answer.`+form+`"`)
		if form == "csv" {
			h.Set("Content-Type", "text/csv; charset=utf-8")
			display.WriteSheet(v.w, k.answer)
			return nil
		}
		text, err := json.Marshal(k.answer)
		if err != nil {
			return err
		}
		h.Set("Content-Type", "application/json")
		_, _ = v.w.Write(append(text, '\n')) // who has gone is told nothing
		return nil
	}}
}

// A mechanismRow is how a column got its noise.
type mechanismRow struct{ Column, Mechanism, Scale, Sensitivity string }

func mechanisms(all []discreet.Mechanism) (rows []mechanismRow) {
	for _, m := range all {
		name := m.Column
		if m.Part != "" {
			name += " (" + m.Part + ")"
		}
		rows = append(rows, mechanismRow{name, m.Noise(), short(m.Scale), short(m.Sensitivity)})
	}
	return rows
}

func (s *site) answerPage() page {
	return page{path: "/ask/answer/{id}", script: "ask.js", audience: accounts, get: s.showAnswer}
}
