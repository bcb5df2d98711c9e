//go:build cgo

package web_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTheoryInABrowser: plans and mechanisms, without a script: by forms and by addresses.
func TestTheoryInABrowser(t *testing.T) {
	browser := chromium(t)
	s := open(t)
	for _, on := range []screen{desktop, night, phone} {
		p := s.tab(t, browser, on)
		p.signIn(t, "anna")
		p.open(t, "/accountant")
		p.run(t, chromedp.SetValue(`textarea[name=plans]`, "14063 * poisson(256/60000, gaussian(1.1))"), chromedp.SetValue(`input[name=delta]`, "1e-5"),
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
