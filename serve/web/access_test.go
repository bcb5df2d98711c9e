//go:build cgo

package web_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// judged says what is wrong with a page for who does not see it, or has no mouse: controls without a
// name, headings that leave a level out, a part that is in no landmark, a drawing without a title or
// without its numbers.
const judged = `(() => {
  const wrong = [], say = (what, of) => wrong.push(what + ": " + (of?.outerHTML ?? "").slice(0, 160))
  const name = e => [e.getAttribute("aria-label"), ...(e.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean).map(id => document.getElementById(id)?.textContent),
    ...[...(e.labels ?? [])].map(l => l.textContent), e.matches("button, a, summary") ? e.textContent : ""].join("").trim()
  for (const e of document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href], summary, [tabindex='0'], [contenteditable=true]"))
    if (!name(e)) say("a control has no name", e)
  const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(h => h.checkVisibility())
  if (levels.filter(h => h.tagName == "H1").length != 1) say("there is not one main heading")
  levels.reduce((above, h) => { const level = +h.tagName[1]; if (level > above + 1) say("a heading leaves a level out", h); return level }, 0)
  if (document.querySelectorAll("main").length != 1) say("there is not one main part")
  if (document.querySelectorAll("body > header").length != 1) say("there is not one head")
  for (const nav of document.querySelectorAll("nav")) if (!name(nav)) say("a navigation has no name", nav)
  for (const e of document.body.children) if (!e.matches("header, main, a.skip, script")) say("it is in no landmark", e)
  for (const svg of document.querySelectorAll("svg")) {
    if (svg.closest("[aria-hidden=true]") || svg.getAttribute("aria-hidden") == "true") continue
    if (!svg.querySelector(":scope > title")?.textContent.trim()) say("a drawing has no title", svg)
    const part = svg.closest("section, main")
    if (svg.closest("figure") && !part.querySelector("table")) say("a drawing has no table of its numbers", svg)
    if (!svg.closest("figure") && !part.querySelector("dl, table")) say("a drawing has no numbers beneath", svg)
  }
  for (const t of document.querySelectorAll("table")) if (!t.querySelector("th[scope]") && t.rows.length > 1) say("a table has no heads", t)
  if (!document.documentElement.lang) say("the language is not said")
  return wrong
})()`

// reachable marks what the keyboard must reach: all that can be seen and acted on.
const reachable = `(() => {
  window.due = new Set([...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href], summary, [tabindex='0'], [contenteditable=true]")]
    .filter(e => e.checkVisibility({visibilityProperty: true}) && !e.disabled && !(e.closest("details:not([open])") && !e.matches("details:not([open]) > summary"))))
  window.unseen = []
  document.activeElement?.blur()
  getSelection().removeAllRanges()
  return due.size
})()`

// reached notes where the focus is, and whether it can be seen there.
const reached = `(() => {
  const e = document.activeElement
  if (!due.delete(e)) return due.size
  const shown = s => s.outlineStyle != "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow != "none"
  let seen = false
  for (let at = e, i = 0; at && i < 4; at = at.parentElement, i++) seen ||= shown(getComputedStyle(at)) && (at == e || at.matches(":focus-within"))
  if (!seen) unseen.push(e.outerHTML.slice(0, 160))
  return due.size
})()`

// TestPagesForEverybody: each page can be used without seeing it, and by the keyboard alone. Our own
// rules and those of axe-core, of WCAG 2.2 up to AA and of good practice, find nothing.
func TestPagesForEverybody(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	axe, err := os.ReadFile("script/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("skip: missing tool axe-core (.ci/setup installs it)")
	}
	s := open(t)
	s.ask(t, "anna", "SELECT department, count(*) FROM visits GROUP BY department", "0.01")
	s.limit(t, "anna", "0.02")
	s.pending(t, "anna", "SELECT sex, count(*) FROM visits GROUP BY sex", "0.03")
	p := s.tab(t, browser, desktop)
	p.run(t, page.SetBypassCSP(true)) // for what looks at the page
	look := func(name string) {
		t.Helper()
		var wrong, unseen, left []string
		p.run(t, chromedp.Evaluate(judged, &wrong))
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
		var due, before int
		p.run(t, chromedp.Evaluate(reachable, &due))
		for range due + 10 {
			before = due
			if p.run(t, chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(reached, &due)); due == 0 {
				break
			}
		}
		p.run(t, chromedp.Evaluate(`[...due].map(e => e.outerHTML.slice(0, 160))`, &left), chromedp.Evaluate(`unseen`, &unseen))
		if due > 0 {
			t.Errorf("%s: the keyboard does not reach (%d, %d before): %s", name, due, before, strings.Join(left, "\n"))
		}
		for _, u := range unseen {
			t.Errorf("%s: the focus cannot be seen on %s", name, u)
		}
		var violations []string
		p.run(t, chromedp.Evaluate(string(axe)+"; 0", nil), chromedp.Evaluate(`axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
			.then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + v.help + ": " + n.html.slice(0, 200) + " " + n.failureSummary.slice(0, 300))))`, &violations,
			func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
		for _, v := range violations {
			t.Errorf("%s: %s", name, v)
		}
	}
	p.open(t, "/sign-in")
	look("sign-in")
	p.signIn(t, "olga")
	for _, path := range []string{"/", "/ask", "/ask?sql=SELECT+department,+count(*)+FROM+visits+GROUP+BY+department", "/tables", "/history?kind=all", "/accountant",
		plans("100 * laplace(10)\n100 * gausian(10)"), asked("/mechanism", "mechanism", "gaussian"), "/people", "/people/anna", "/approvals", "/ledger", "/audit", "/nowhere"} {
		p.open(t, path)
		if strings.HasPrefix(path, "/ask") {
			p.see(t, ".cm-content")
		}
		look(path)
	}
	p.open(t, "/ask?sql=SELECT+department,+count(*)+FROM+visits+GROUP+BY+department")
	p.click(t, "button.primary")
	p.see(t, "#answer")
	look("answer")
	p.forgive("404")
	p.forgive("400")

	// What is planted is found.
	p.open(t, "/people")
	for plant, want := range map[string]string{`document.querySelector("main input[name=name]").closest("label").replaceWith(document.createElement("input"))`: "no name",
		`document.querySelector("main h1").outerHTML = "<h3>x</h3>"`: "leaves a level out", `document.body.append(document.createElement("div"))`: "no landmark"} {
		var wrong []string
		p.run(t, chromedp.Evaluate(plant+"; 0", nil), chromedp.Evaluate(judged, &wrong))
		if !strings.Contains(fmt.Sprint(wrong), want) {
			t.Errorf("%s is not found: %v", want, wrong)
		}
	}
	var due int
	p.run(t, chromedp.Evaluate(`document.querySelector("main button").tabIndex = -1; 0`, nil), chromedp.Evaluate(reachable, &due))
	for range due + 10 {
		p.run(t, chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(reached, &due))
	}
	if due != 1 {
		t.Errorf("a button that the keyboard does not reach is not found: %d", due)
	}
}
