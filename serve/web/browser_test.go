//go:build cgo

package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// chromium starts a browser, or skips where there is none. Its tabs end with the test.
func chromium(t testing.TB) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		path, err = exec.LookPath("chromium-browser") // as Ubuntu has it
	}
	if err != nil {
		t.Skip("skip: missing tool chromium")
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-backgrounding-occluded-windows", true), chromedp.Flag("disable-background-timer-throttling", true), chromedp.WSURLReadTimeout(time.Minute))
	browser, end := chromedp.NewContext(allocator)
	t.Cleanup(func() { end(); stop() })
	if err := chromedp.Run(browser); err != nil {
		t.Fatal(err)
	}
	return browser
}

// A tab is a page in the browser, in which nobody has signed in; tabs that are open at once share who has. What its console says of errors and of the policy is a
// failure when the test ends.
type tab struct {
	context.Context
	of *stand

	mu       sync.Mutex
	problems []string
}

// A screen is what pages are looked at on.
type screen struct {
	name          string
	width, height int64
	dark          bool
}

var (
	desktop = screen{"desktop", 1280, 900, false}
	night   = screen{"dark", 1280, 900, true}
	phone   = screen{"phone", 390, 844, false}
)

func (s *stand) tab(t testing.TB, browser context.Context, on screen) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser)
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	p := &tab{Context: ctx, of: s}
	chromedp.ListenTarget(ctx, func(e any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := e.(type) {
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				for _, a := range e.Args {
					p.problems = append(p.problems, "console: "+string(a.Value)+a.Description)
				}
			}
		case *runtime.EventExceptionThrown:
			p.problems = append(p.problems, "exception: "+e.ExceptionDetails.Error())
		case *cdplog.EventEntryAdded:
			if e.Entry.Level == cdplog.LevelError || e.Entry.Level == cdplog.LevelWarning {
				p.problems = append(p.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
			}
		}
	})
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			t.Error(problem)
		}
		stop()
		end()
	})
	scheme := "light"
	if on.dark {
		scheme = "dark"
	}
	if err := chromedp.Run(ctx); err != nil { // the tab lasts as long as the context that it is made with
		t.Fatal(err)
	}
	p.run(t, page.BringToFront(), cdplog.Enable(), network.ClearBrowserCookies(), chromedp.EmulateViewport(on.width, on.height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
	return p
}

// run does what somebody does, and gives up after a while.
func (p *tab) run(t testing.TB, actions ...chromedp.Action) {
	t.Helper()
	ctx, stop := context.WithTimeout(p, 15*time.Second)
	defer stop()
	if err := chromedp.Run(ctx, actions...); err != nil {
		if dir := os.Getenv("WEB_SHOTS"); dir != "" {
			var picture []byte
			if err := errors.Join(chromedp.Run(p, chromedp.CaptureScreenshot(&picture)), os.WriteFile(filepath.Join(dir, "failed.png"), picture, 0o600)); err != nil {
				t.Error(err)
			}
		}
		t.Fatal(err)
	}
}

func (p *tab) open(t testing.TB, path string) {
	t.Helper()
	p.run(t, chromedp.Navigate(p.of.URL+path))
}

// see waits until an element can be seen; the others do so first. Selectors are CSS.
func (p *tab) see(t testing.TB, selector string) {
	t.Helper()
	p.run(t, chromedp.WaitVisible(selector, chromedp.ByQuery))
}

func (p *tab) types(t testing.TB, selector, keys string) {
	t.Helper()
	p.run(t, chromedp.WaitVisible(selector, chromedp.ByQuery), chromedp.SendKeys(selector, keys, chromedp.ByQuery))
}

func (p *tab) click(t testing.TB, selector string) {
	t.Helper()
	p.run(t, chromedp.WaitVisible(selector, chromedp.ByQuery), chromedp.Click(selector, chromedp.ByQuery))
}

func (p *tab) text(t testing.TB, selector string) (text string) {
	t.Helper()
	p.run(t, chromedp.WaitVisible(selector, chromedp.ByQuery), chromedp.Text(selector, &text, chromedp.ByQuery))
	return text
}

// signIn fills the form in, as people do.
func (p *tab) signIn(t testing.TB, name string) {
	t.Helper()
	p.open(t, "/sign-in")
	p.types(t, "input[name=name]", name)
	p.types(t, "input[name=password]", gatewaytest.Password+kb.Enter)
	p.see(t, ".who")
}

// look holds a page against what every page must be: no wider than the screen. Where
// WEB_SHOTS names a folder, it leaves a picture there.
func (p *tab) look(t testing.TB, on screen, name string) {
	t.Helper()
	var wide int64
	p.run(t, chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide))
	if wide > on.width {
		t.Errorf("%s is %d wide on a screen of %d", name, wide, on.width)
	}
	dir := os.Getenv("WEB_SHOTS")
	if dir == "" {
		return
	}
	var picture []byte
	p.run(t, chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(dir, url.PathEscape(name)+"-"+on.name+".png"), picture, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPagesInABrowser: each page on each screen, without an error in the console.
func TestPagesInABrowser(t *testing.T) {
	browser := chromium(t)
	s := open(t)
	s.ask(t, "anna", "SELECT department, count(*) FROM visits GROUP BY department", "0.01")
	s.ask(t, "anna", "SELECT sex, avg(age) FROM visits GROUP BY sex", "0.02")
	for _, on := range []screen{desktop, night, phone} {
		p := s.tab(t, browser, on)
		p.open(t, "/")
		p.look(t, on, "sign-in")
		p.signIn(t, "anna")
		p.look(t, on, "overview")
	}
}
