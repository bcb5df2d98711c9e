//go:build cgo

package web_test

import (
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// BenchmarkFirstPage measures in a browser that keeps nothing how long the page takes on
// which somebody asks, with its editor: until it is there, and until it is complete.
func BenchmarkFirstPage(b *testing.B) {
	browser := chromium(b)
	s := open(b)
	p := s.tab(b, browser, desktop)
	p.signIn(b, "anna")
	p.run(b, network.SetCacheDisabled(true))
	var usable, complete, first float64
	for b.Loop() {
		p.open(b, "/")
		p.run(b, chromedp.Evaluate(`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`, &first))
		p.open(b, "/ask")
		p.see(b, ".cm-content")
		var u, c float64
		p.run(b, chromedp.Evaluate(`performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`, &u),
			chromedp.Evaluate(`performance.getEntriesByType("navigation")[0].loadEventEnd`, &c))
		usable, complete = usable+u, complete+c
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(first, "overview-ms")
	b.ReportMetric(usable/float64(b.N), "usable-ms")
	b.ReportMetric(complete/float64(b.N), "complete-ms")
}

// BenchmarkExplainWhileTyping measures in a browser how long an explanation is on its way,
// after the moment in which nothing is typed.
func BenchmarkExplainWhileTyping(b *testing.B) {
	browser := chromium(b)
	s := open(b)
	p := s.tab(b, browser, desktop)
	p.signIn(b, "anna")
	p.open(b, "/ask")
	p.types(b, ".cm-content", byDepartment)
	p.see(b, "#explained")
	for b.Loop() {
		p.types(b, ".cm-content", " ")
		p.run(b, chromedp.Sleep(400*time.Millisecond))
	}
	var median float64
	p.run(b, chromedp.Evaluate(`(() => { const all = performance.getEntriesByName(location.origin + "/ask/explain").map(e => e.duration).sort((a, b) => a - b); return all[Math.floor(all.length / 2)] })()`, &median))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median, "median-ms")
}
