//go:build cgo

package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

const byDepartment = "SELECT department, count(*) AS visits FROM visits GROUP BY department ORDER BY department"

// TestAskWithoutScripts: a form explains for free, asks once however often it is sent, and
// leads to an answer that is downloaded without asking again.
func TestAskWithoutScripts(t *testing.T) {
	s := open(t)
	c := s.signIn(t, "anna")
	spent := func() string {
		t.Helper()
		body := c.get(t, "/").body
		_, after, _ := strings.Cut(body, "<dt>Spent</dt><dd>")
		text, _, _ := strings.Cut(after, "<")
		return text
	}
	form := c.form(t, "/ask", url.Values{"sql": {byDepartment}, "unit": {"rho"}, "amount": {"0.01"}, "do": {"explain"}, "wanted": {"±2 %"}, "about": {"10,000"}})
	r := c.post(t, "/ask", form)
	for _, want := range []string{"ρ 0.01", "Off by at most, with 95% confidence", "To be off by ±200 at most", "then at most ±"} {
		if r.StatusCode != http.StatusOK || !strings.Contains(r.body, want) {
			t.Errorf("explained: %s without %q\n%s", r.Status, want, r.body)
		}
	}
	if got := spent(); got != "ρ 0, δ 0" {
		t.Errorf("explaining has spent %s", got)
	}
	form.Set("do", "ask")
	form.Set("fresh", "yes")
	form.Set("nonce", "of one form")
	var first string
	for range 2 { // loaded again, or clicked twice
		r = c.post(t, "/ask", form)
		if r.StatusCode != http.StatusSeeOther || !strings.HasPrefix(r.Header.Get("Location"), "/ask/answer/") {
			t.Fatalf("%s\n%s", r.Status, r.body)
		}
		page := c.get(t, r.Header.Get("Location")).body
		_, table, _ := strings.Cut(page, "<tbody>")
		table, _, _ = strings.Cut(table, "</tbody>")
		if first == "" {
			first = table
		}
		if table != first || !strings.Contains(table, "Cardiology") || !strings.Contains(page, "<svg") || !strings.Contains(page, "95% interval") {
			t.Errorf("the answer is\n%s", page)
		}
	}
	if got := spent(); got != "ρ 0.01, δ 0" {
		t.Errorf("one form has spent %s", got)
	}
	at := r.Header.Get("Location")
	for kind, want := range map[string]string{"csv": "department,visits,visits_low,visits_high\n", "json": `{"columns":[{"name":"department"`} {
		r := c.get(t, at+"/"+kind)
		if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.body, want) || r.Header.Get("Content-Disposition") != `attachment; filename="discreet-answer.`+kind+`"` {
			t.Errorf("%s: %s %v\n%s", kind, r.Status, r.Header, r.body)
		}
	}
	if r := s.signIn(t, "anna").get(t, at+"/csv"); r.StatusCode != http.StatusNotFound {
		t.Errorf("another session downloads the answer: %s", r.Status)
	}
	form.Set("nonce", "of another form")
	if r := c.post(t, "/ask", form); r.StatusCode != http.StatusSeeOther {
		t.Errorf("%s\n%s", r.Status, r.body)
	}
	if got := spent(); got != "ρ 0.02, δ 0" {
		t.Errorf("two forms have spent %s", got)
	}
	form.Del("fresh")
	if r := c.get(t, c.post(t, "/ask", form).Header.Get("Location")); !strings.Contains(r.body, "nothing was charged") {
		t.Errorf("a repetition: %s\n%s", r.Status, r.body)
	}
	if got := spent(); got != "ρ 0.02, δ 0" {
		t.Errorf("a repetition has spent %s", got)
	}

	// Where nothing may be charged, what is stored answers, whatever amount is written.
	form.Set("free", "yes")
	form.Set("sql", "SELECT count(*) AS visits, department FROM visits GROUP BY department")
	form.Set("nonce", "of a third form")
	for _, do := range []string{"ask", "explain"} {
		form.Set("do", do)
		if r := c.post(t, "/ask", form); !strings.Contains(r.body, "D070") || !strings.Contains(r.body, "the statement may cost nothing, and no stored answer serves it") || !strings.Contains(r.body, `name="free" value="yes" checked`) {
			t.Errorf("nothing is stored that serves: %s\n%s", r.Status, r.body)
		}
	}
	if _, err := s.Ledger.NewVersion(t.Context(), "", "", gatewaytest.Noon); err != nil {
		t.Fatal(err)
	}
	paid := url.Values{}
	for name, values := range form {
		paid[name] = values
	}
	paid.Del("free")
	paid.Set("sql", byDepartment)
	paid.Set("do", "ask")
	if r := c.get(t, c.post(t, "/ask", paid).Header.Get("Location")); strings.Contains(r.body, "nothing was charged") {
		t.Errorf("another version: %s\n%s", r.Status, r.body)
	}
	before := spent()
	if r := c.post(t, "/ask", form); !strings.Contains(r.body, "nothing: a stored answer serves") {
		t.Errorf("what is stored is explained: %s\n%s", r.Status, r.body)
	}
	form.Set("do", "ask")
	if r := c.get(t, c.post(t, "/ask", form).Header.Get("Location")); !strings.Contains(r.body, "nothing was charged") {
		t.Errorf("what is stored: %s\n%s", r.Status, r.body)
	}
	if spent() != before {
		t.Errorf("what may cost nothing has spent %s after %s", spent(), before)
	}
}

// TestRefusedOnThePage: what is refused has its code, its place and a way out, and the form
// keeps what was written.
func TestRefusedOnThePage(t *testing.T) {
	s := open(t)
	c := s.signIn(t, "anna")
	for sql, want := range map[string]struct {
		status int
		texts  []string
	}{
		"SELECT email FROM visits":  {http.StatusBadRequest, []string{"<code>D011</code>", "SELECT <mark>email</mark> FROM visits"}},
		"SELECT count(* FROM x":     {http.StatusBadRequest, []string{"<code>D0"}},
		"SELECT count(*) FROM no_x": {http.StatusBadRequest, []string{"<code>D010</code>", "<mark>no_x</mark>"}},
		" ":                         {http.StatusBadRequest, []string{"there is no statement"}},
	} {
		r := c.post(t, "/ask", c.form(t, "/ask", url.Values{"sql": {sql}, "unit": {"rho"}, "amount": {"0.01"}, "do": {"ask"}}))
		for _, text := range append(want.texts, ">"+sql+"</textarea>") {
			if r.StatusCode != want.status || !strings.Contains(r.body, text) {
				t.Errorf("%q: %s without %q\n%s", sql, r.Status, text, r.body)
			}
		}
	}
	for _, amount := range []string{"0", "-1", "NaN", "1e99", "x"} {
		r := c.post(t, "/ask", c.form(t, "/ask", url.Values{"sql": {byDepartment}, "unit": {"rho"}, "amount": {amount}, "do": {"ask"}}))
		if r.StatusCode < 400 || !strings.Contains(r.body, `role="alert"`) {
			t.Errorf("an amount of %s: %s", amount, r.Status)
		}
	}
	if r := c.post(t, "/ask", url.Values{"sql": {strings.Repeat("x", 2<<20)}}); r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a statement of two megabytes: %s", r.Status)
	}
}

// TestAskInABrowser: an analyst types, is shown what it would cost and what there is, asks by a
// key, has an answer, finds it in the history, asks again for free, and leaves.
func TestAskInABrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := open(t)
	s.quota(t, "anna", "0.03")
	p := s.tab(t, browser, desktop)
	p.signIn(t, "anna")
	p.open(t, "/ask")
	p.types(t, ".cm-content", "SELECT department, count(*) AS visits FROM vis")
	var proposed string
	for i := 0; i < 40 && !strings.Contains(proposed, "visits"); i++ { // a busy machine shows proposals late, and of what was typed before
		if i%10 == 5 {
			p.run(t, chromedp.KeyEvent(" ", chromedp.KeyModifiers(input.ModifierCtrl)))
		}
		p.run(t, chromedp.Sleep(250*time.Millisecond), chromedp.Evaluate(`document.querySelector(".cm-tooltip-autocomplete")?.textContent ?? ""`, &proposed))
	}
	if !strings.Contains(proposed, "visits") {
		t.Errorf("proposed: %q", proposed)
	}
	p.look(t, desktop, "ask-completion")
	p.types(t, ".cm-content", kb.Enter+" GROUP BY department")
	if explained := p.text(t, "#explanation .facts"); !strings.Contains(explained, "ρ 0.01") {
		t.Errorf("explained: %q", explained)
	}
	p.look(t, desktop, "ask-explained")
	p.types(t, ".cm-content", " ORDER BY department")
	p.run(t, chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(input.ModifierCtrl)))
	p.see(t, "#answer")
	p.look(t, desktop, "ask-answer")
	p.click(t, `nav a[href="/history"]`)
	p.reads(t, ".list article", "ORDER BY department")
	if said := p.text(t, ".list article"); !strings.Contains(said, "ρ 0.01") {
		t.Errorf("the history: %s", said)
	}
	p.click(t, ".list article a")
	p.see(t, "#explained")
	p.click(t, "button.primary")
	if said := p.text(t, "section[aria-labelledby=answer] .tag"); !strings.Contains(said, "nothing was charged") {
		t.Errorf("asked again: %s", said)
	}
	p.click(t, `nav a[href="/"]`)
	if said := p.text(t, ".facts"); !strings.Contains(said, "0.02 of the quota of anna") {
		t.Errorf("the overview: %s", said)
	}
	p.click(t, ".who button")
	p.see(t, "input[name=password]")
	for _, on := range []screen{night, phone} {
		p := s.tab(t, browser, on)
		p.signIn(t, "anna")
		p.open(t, "/ask?sql="+url.QueryEscape(byDepartment))
		p.see(t, "#explained")
		p.look(t, on, "ask-explained")
		p.click(t, "button.primary")
		p.see(t, "#answer")
		p.look(t, on, "ask-answer")
	}
}
