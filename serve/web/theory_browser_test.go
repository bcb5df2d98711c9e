//go:build cgo

package web_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestTheoryInABrowser: plans and mechanisms, without a script: by forms and by addresses.
func TestTheoryInABrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := open(t)
	for _, on := range []screen{desktop, night, phone} {
		p := s.tab(t, browser, on)
		p.signIn(t, "anna")
		plan := "100 * gaussian(10)"
		if on == desktop { // it takes seconds
			plan = "14063 * poisson(256/60000, gaussian(1.1))"
		}
		p.open(t, "/accountant")
		p.run(t, chromedp.SetValue(`textarea[name=plans]`, plan), chromedp.SetValue(`input[name=delta]`, "1e-5"),
			chromedp.Submit(`input[name=delta]`), chromedp.WaitVisible(`figure svg .line`))
		p.look(t, on, "accountant-plan")
		p.open(t, plans("100 * laplace(10)\n100 * gausian(10)\n100 * gaussian(?)"))
		p.run(t, chromedp.WaitVisible(`figure svg .line`), chromedp.WaitVisible(`pre mark`))
		p.look(t, on, "accountant-plans")
		p.open(t, asked("/mechanism", "mechanism", "gaussian"))
		p.run(t, chromedp.SetValue(`input[name=rho]`, "0.5"), chromedp.Submit(`input[name=rho]`), chromedp.WaitVisible(`figure svg .area`))
		p.look(t, on, "mechanism-gaussian")
	}
	if os.Getenv("WEB_SHOTS") == "" {
		return
	}
	for _, mechanism := range []string{"laplace", "geometric", "discrete-gaussian", "randomized-response"} {
		for _, on := range []screen{desktop, phone} {
			p := s.tab(t, browser, on)
			p.signIn(t, "anna")
			p.open(t, asked("/mechanism", "mechanism", mechanism))
			p.look(t, on, "mechanism-"+mechanism)
		}
	}
}

// TestTheoryWhileTyping: plans and mechanisms are answered while somebody types, without a button and
// without another page; what is half written leaves what stood there, and says so.
func TestTheoryWhileTyping(t *testing.T) {
	t.Parallel()
	s := open(t)
	p := s.tab(t, chromium(t), desktop)
	p.signIn(t, "anna")
	p.open(t, "/accountant")
	p.run(t, chromedp.Evaluate(`window.here = "still"; 0`, nil))
	p.types(t, "textarea[name=plans]", "100 * gaussian(10)")
	p.reads(t, "#results .answer", "at most")
	first := p.text(t, "#results .answer")
	p.run(t, chromedp.Evaluate(`document.querySelector("#results details").open = true; 0`, nil))
	p.types(t, "textarea[name=plans]", " + laplace(1)")
	for range 100 {
		if p.run(t, chromedp.Sleep(100*time.Millisecond)); p.text(t, "#results .answer") != first {
			break
		}
	}
	if second := p.text(t, "#results .answer"); second == first {
		t.Errorf("the answer is that of the plan before: %s", second)
	}
	p.types(t, "textarea[name=plans]", " + lap")
	p.reads(t, "main", "lap")
	p.reads(t, "main .notice.bad", "D")
	var where, still string
	var open bool
	p.run(t, chromedp.Location(&where), chromedp.Evaluate(`window.here`, &still), chromedp.Evaluate(`document.activeElement.name == "plans"`, &open))
	if !strings.Contains(where, "gaussian") || still != "still" || !open {
		t.Errorf("at %s, %q, the focus is kept: %v", where, still, open)
	}
	p.open(t, asked("/mechanism", "mechanism", "laplace"))
	facts := p.text(t, "#results dl")
	p.run(t, chromedp.Evaluate(`document.querySelector("input[name=epsilon]").select(); 0`, nil))
	p.types(t, "input[name=epsilon]", "0.25")
	for range 100 {
		if p.run(t, chromedp.Sleep(100*time.Millisecond)); p.text(t, "#results dl") != facts {
			break
		}
	}
	p.run(t, chromedp.Location(&where))
	if p.text(t, "#results dl") == facts || !strings.Contains(where, "epsilon=0.25") {
		t.Errorf("at %s the facts are those of another epsilon", where)
	}
	p.forgive("400")
	p.forgive("429")
}
