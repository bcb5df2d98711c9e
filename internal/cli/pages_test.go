//go:build cgo && unix

package cli

import (
	"bytes"
	"context"
	"flag"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var photograph = flag.Bool("pictures", false, "take the pictures of docs/web.md anew")

// The pages that docs/web.md shows.
var pictured = []struct {
	name, as, path string
	height         int64
}{
	{"ask", "anna", "/ask?unit=rho&amount=0.01&sql=" + url.QueryEscape("SELECT department, count(*) AS visits, avg(cost) AS cost\nFROM visits\nGROUP BY department\nORDER BY department"), 1330},
	{"tables", "anna", "/tables", 790},
	{"overview", "olga", "/", 840},
}

const (
	picturesOf   = "../../docs/web"
	pictureBytes = 400_000 // of all together: whoever clones the repository pays for them
	pictureWidth = 1100
)

// Each picture that docs/web.md names exists, is one of a page, and all of them are small.
// What they show is not compared: a browser of another version draws other letters. With
// -pictures they are taken anew, from a server as users start it, over the demo's data.
func TestPagePictures(t *testing.T) {
	if *photograph {
		takePictures(t)
	}
	text, err := os.ReadFile("../../docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, p := range pictured {
		if !bytes.Contains(text, []byte("](web/"+p.name+".png)")) {
			t.Errorf("docs/web.md does not show %s.png", p.name)
		}
		f, err := os.Open(filepath.Join(picturesOf, p.name+".png"))
		if err != nil {
			t.Error(err)
			continue
		}
		defer f.Close()
		c, err := png.DecodeConfig(f)
		if err != nil || c.Width != pictureWidth {
			t.Errorf("%s.png: %d pixels wide, %v", p.name, c.Width, err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	if sum > pictureBytes {
		t.Errorf("the pictures have %d bytes, more than %d", sum, pictureBytes)
	}
}

func takePictures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	run := func(args ...string) string {
		out, err := exec.Command("discreet", args...).Output()
		if err != nil {
			t.Fatalf("discreet %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	run("demo", "--dir", dir)
	catalog := filepath.Join(dir, "discreet.toml")
	passwords := map[string]string{
		"anna": run("user", "add", "anna", "--role", "analyst", "--catalog", catalog),
		"olga": run("user", "add", "olga", "--role", "owner", "--catalog", catalog),
	}
	s := startServer(t, catalog)

	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	allocator, stop := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun, chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(time.Minute))
	defer stop()
	browser, end := chromedp.NewContext(allocator)
	defer end()
	ctx, cancel := context.WithTimeout(browser, 3*time.Minute)
	defer cancel()
	do := func(actions ...chromedp.Action) {
		t.Helper()
		if err := chromedp.Run(ctx, actions...); err != nil {
			t.Fatal(err)
		}
	}
	site := "http://" + s.HTTP
	do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}))
	who := ""
	if err := os.MkdirAll(picturesOf, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range pictured {
		if p.as != who {
			who = p.as
			do(network.ClearBrowserCookies(), chromedp.Navigate(site+"/sign-in"), chromedp.SendKeys("input[name=name]", who, chromedp.ByQuery),
				chromedp.SendKeys("input[name=password]", passwords[who]+kb.Enter, chromedp.ByQuery), chromedp.WaitVisible("nav", chromedp.ByQuery))
		}
		var shot []byte
		do(emulation.SetDeviceMetricsOverride(pictureWidth, p.height, 1, false), chromedp.Navigate(site+p.path), chromedp.WaitVisible("main", chromedp.ByQuery))
		if p.name == "ask" {
			do(chromedp.Click("button.primary", chromedp.ByQuery), chromedp.WaitVisible(`a[href$="/csv"]`, chromedp.ByQuery))
		}
		do(chromedp.Sleep(500*time.Millisecond), chromedp.CaptureScreenshot(&shot))
		drawn, err := png.Decode(bytes.NewReader(shot))
		if err != nil {
			t.Fatal(err)
		}
		var small bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, drawn); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(picturesOf, p.name+".png"), small.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
