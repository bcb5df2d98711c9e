package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/learn/leakage"
)

// A secret that stands in the text twenty times is learned by heart by the model that is
// trained without protection, and not by the one that is trained with it; both have
// learned the language. Two secrets count as learned if the model needs at most 10 bits
// to be told both, of the 39.9 that they have. A model that knows nothing of them gives
// the two together a probability of 1e-12 on average over their values, so that by
// Markov's inequality it is 2^-10 with probability 1e-9.
func TestPrivacyForgetsTheSecretAndKeepsTheLanguage(t *testing.T) {
	var out strings.Builder
	told := 0
	err := run(t.Context(), &out, func(private bool, bits float64, r []leakage.ExposureReport) {
		told++
		learned := r[4].Perplexity+r[5].Perplexity <= 10
		switch {
		case !private && (!learned || bits > 2):
			t.Error("the plain model has not learned by heart")
		case private && (learned || bits > 3.5): // 5.25 for a model that knows nothing
			t.Error("the private model has learned by heart, or nothing")
		}
	})
	t.Logf("\n%s", &out)
	if err != nil || told != 2 {
		t.Fatal(err)
	}
	// The page shows a run: the same but for its numbers and what a model says.
	page, err := os.ReadFile("../../docs/learn/leakage.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "`go run ./examples/memorizedsecret`")
	_, block, _ = strings.Cut(block, "```text\n")
	block, _, _ = strings.Cut(block, "```")
	if got, want := shape(out.String()), shape(block); got != want {
		t.Errorf("the page shows\n%s\nof\n%s", want, got)
	}
}

var (
	number = regexp.MustCompile(` *[-+]?(\d+\.\d+|Inf)`)
	saying = regexp.MustCompile(`(?m)  [a-z][a-z0-9 ]*$`)
)

func shape(text string) string {
	return strings.TrimSpace(number.ReplaceAllString(saying.ReplaceAllString(text, "  ..."), " #"))
}
