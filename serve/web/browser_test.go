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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// The browser of all tests: the first that asks starts it, and TestMain ends it.
var browsing = struct {
	sync.Once
	context.Context
	end func()
	err error
}{end: func() {}}

func TestMain(m *testing.M) {
	code := m.Run()
	browsing.end()
	os.Exit(code)
}

func startBrowser(path string) {
	b := &browsing
	var dir string
	if dir, b.err = os.MkdirTemp("", "chromium"); b.err != nil {
		return
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(dir), chromedp.NoFirstRun, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-backgrounding-occluded-windows", true), chromedp.Flag("disable-background-timer-throttling", true), chromedp.WSURLReadTimeout(time.Minute))
	first, last := chromedp.NewContext(allocator)
	b.Context, b.end = first, func() { last(); stop(); os.RemoveAll(dir) }
	b.err = chromedp.Run(first)
}

// chromium is a browser in which nobody has been, or skips where there is none. It knows nothing of
// those of other tests, and its tabs end with the test.
func chromium(t testing.TB) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		path, err = exec.LookPath("chromium-browser") // as Ubuntu has it
	}
	if err != nil {
		t.Skip("skip: missing tool chromium")
	}
	if browsing.Do(func() { startBrowser(path) }); browsing.err != nil {
		t.Fatal(browsing.err)
	}
	// chromedp would open the first tab in a window of those profiles that are there.
	whole := cdp.WithExecutor(browsing.Context, chromedp.FromContext(browsing.Context).Browser)
	profile, err := target.CreateBrowserContext().Do(whole)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.DisposeBrowserContext(profile).Do(whole); err != nil {
			t.Error(err)
		}
	})
	first, err := target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(whole)
	if err != nil {
		t.Fatal(err)
	}
	browser, end := chromedp.NewContext(browsing.Context, chromedp.WithTargetID(first))
	chromedp.FromContext(browser).BrowserContextID = profile // which further tabs take from it
	t.Cleanup(end)
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
	ctx, stop := context.WithTimeout(ctx, 3*time.Minute)
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
	p.run(t, page.BringToFront(), emulation.SetFocusEmulationEnabled(true), cdplog.Enable(), network.ClearBrowserCookies(), chromedp.EmulateViewport(on.width, on.height),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
	return p
}

// run does what somebody does, and gives up after a while.
func (p *tab) run(t testing.TB, actions ...chromedp.Action) {
	t.Helper()
	ctx, stop := context.WithTimeout(p, 30*time.Second)
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

// forgive takes back a problem that a test has caused.
func (p *tab) forgive(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = slices.DeleteFunc(p.problems, func(one string) bool { return strings.Contains(one, part) })
}

// see waits until an element can be seen; the others do so first. Selectors are CSS.
func (p *tab) see(t testing.TB, selector string) {
	t.Helper()
	p.run(t, chromedp.WaitVisible(selector, chromedp.ByQuery))
}

// reads waits until an element has a text in it: the page before may still be there.
func (p *tab) reads(t testing.TB, selector, want string) {
	t.Helper()
	var text string
	for range 300 {
		// An error is that of a page which is about to go.
		if chromedp.Run(p, chromedp.Sleep(100*time.Millisecond), chromedp.Evaluate(`document.querySelector(`+strconv.Quote(selector)+`)?.innerText ?? ""`, &text)) == nil && strings.Contains(text, want) {
			return
		}
	}
	t.Fatalf("%s is %q, without %q", selector, text, want)
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
	visible := `(e => e && e.checkVisibility() ? e.innerText : "")(document.querySelector(` + strconv.Quote(selector) + `))`
	for range 300 {
		// One look: an element that is found first and read then may be replaced in between.
		if chromedp.Run(p, chromedp.Evaluate(visible, &text)) == nil && text != "" {
			return text
		}
		p.run(t, chromedp.Sleep(100*time.Millisecond))
	}
	t.Fatalf("%s has no text", selector)
	return ""
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
	var bare int
	p.run(t, chromedp.Evaluate(`[...document.querySelectorAll(".card")].filter(c => getComputedStyle(c).backgroundColor === "rgba(0, 0, 0, 0)").length`, &bare))
	if bare > 0 {
		t.Errorf("%s has %d cards without a colour of their own", name, bare)
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
	t.Parallel()
	browser := chromium(t)
	s := open(t)
	s.ask(t, "anna", "SELECT department, count(*) FROM visits GROUP BY department", "0.01")
	s.ask(t, "anna", "SELECT sex, avg(age) FROM visits GROUP BY sex", "0.02")
	s.limit(t, "anna", "0.005")
	s.pending(t, "anna", "SELECT sex, count(*) FROM visits GROUP BY sex", "0.03")
	for _, on := range []screen{desktop, night, phone} {
		p := s.tab(t, browser, on)
		p.open(t, "/")
		p.look(t, on, "sign-in")
		p.signIn(t, "olga")
		for _, path := range []string{"/", "/history", "/history?kind=all", "/tables", "/people", "/people/anna", "/approvals", "/ledger", "/audit", "/nowhere"} {
			p.open(t, path)
			if path == "/nowhere" {
				p.forgive("404")
			}
			p.look(t, on, path)
		}
	}
}

// TestOwnerInABrowser: an owner adds an account, gives it a limit, looks at what waits,
// grants it, and looks at the books.
func TestOwnerInABrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t)
	s := open(t)
	s.limit(t, "anna", "0.005")
	s.pending(t, "anna", byDepartment, "0.03")
	p := s.tab(t, browser, desktop)
	p.signIn(t, "olga")
	p.click(t, `nav a[href="/people"]`)
	p.types(t, "main input[name=name]", "berta"+kb.Enter)
	password := p.text(t, ".secret")
	if _, err := s.People.SignIn(t.Context(), "berta", password, "127.0.0.1"); err != nil {
		t.Errorf("the new password %q: %v", password, err)
	}
	p.open(t, "/people/berta")
	p.types(t, "section form:nth-of-type(1) input[name=amount]", "0.05"+kb.Enter)
	p.reads(t, ".notice.good", "berta has a quota of patient.")
	p.click(t, "button.danger")
	p.reads(t, ".notice.good", "berta is disabled; its sessions have ended.")
	if _, err := s.People.SignIn(t.Context(), "berta", password, "127.0.0.1"); !errors.Is(err, people.ErrSignIn) {
		t.Errorf("a disabled account signs in: %v", err)
	}
	p.click(t, `nav a[href="/approvals"]`)
	p.reads(t, "main", "anna asks")
	p.reads(t, "main", "ρ 0.03")
	p.click(t, "button[value=grant]")
	p.reads(t, ".notice.good", "Granted approval ")
	s.ask(t, "anna", byDepartment, "0.03")
	p.click(t, `nav a[href="/ledger"]`)
	p.click(t, "main button")
	p.reads(t, "main", "holds")
	p.reads(t, "main", "anna, ρ 0.03")
	p.click(t, `nav a[href="/audit"]`)
	p.reads(t, "tbody", "sign-in")
	p.click(t, ".who button")
	p.see(t, "input[name=password]")
}
