package learn

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/learn"
)

// The learning curves have a panel each, with an axis of its own. Those of private data
// say whose they are; those of public data have no epsilon.
func TestLearningCurves(t *testing.T) {
	for _, public := range []bool{false, true} {
		v := training{}
		v.Public = public
		s := newShow(terminal.New(nil, io.Discard, io.Discard), &v)
		for step := 1; step <= 50; step++ {
			x := float64(step)
			s.step(learn.Progress{Step: step, Steps: 50, Epsilon: x / 10, Owner: learn.Figures{Loss: 200 / x, Clipped: 0.5}})
		}
		var b bytes.Buffer
		if err := s.sheet().WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Texts []struct {
				Class string `xml:"class,attr"`
				Text  string `xml:",chardata"`
			} `xml:"text"`
			Paths []struct {
				Class string `xml:"class,attr"`
			} `xml:"path"`
		}
		if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		var texts, lines []string
		for _, text := range doc.Texts {
			texts = append(texts, text.Text)
		}
		for _, p := range doc.Paths {
			if strings.HasPrefix(p.Class, "line") {
				lines = append(lines, p.Class)
			}
		}
		want, private := []string{"line c0", "line c0"}, false
		if !public {
			want, private = append(want, "line c0 dashed"), true
		}
		if !slices.Equal(lines, want) {
			t.Errorf("public %v: lines %q", public, lines)
		}
		if got := strings.Contains(strings.Join(texts, " "), "for their owner alone"); got != private {
			t.Errorf("public %v: says whose they are: %v", public, got)
		}
		if got := slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "epsilon") }); got != private {
			t.Errorf("public %v: epsilon is drawn: %v", public, got)
		}
		for _, tick := range []string{"200", "1", "4"} { // of loss, share and epsilon
			if !slices.Contains(texts, tick) && (private || tick != "4") {
				t.Errorf("public %v: no axis reaches %s: %q", public, tick, texts)
			}
		}
	}
}
