package web

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// TestContrast: text can be read on what it stands on, by light and in the dark: 4.5 to 1, and
// 3 to 1 for edges of fields (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	text, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(text), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	for i, m := range regexp.MustCompile(`\.(tok-[a-z]+)[^{]*\{ color: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(text), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
		if i == 0 && len(colours) < 10 {
			t.Fatalf("found %d colours", len(colours))
		}
	}
	for _, pair := range []struct {
		ink, on string
		least   float64
	}{
		{"ink", "ground", 4.5}, {"ink", "card", 4.5}, {"soft", "ground", 4.5}, {"soft", "card", 4.5}, {"accent", "ground", 4.5}, {"accent", "card", 4.5}, {"accent", "tint", 4.5}, {"on-accent", "accent", 4.5},
		{"ink", "tint", 4.5}, {"good", "good-tint", 4.5}, {"ink", "good-tint", 4.5}, {"bad", "bad-tint", 4.5}, {"ink", "bad-tint", 4.5}, {"soft", "bad-tint", 4.5}, {"bad", "card", 4.5}, {"bad", "ground", 4.5}, {"wait", "wait-tint", 4.5},
		{"ink", "wait-tint", 4.5}, {"soft", "wait-tint", 4.5}, {"edge", "card", 3}, {"tok-keyword", "card", 4.5}, {"tok-string", "card", 4.5}, {"tok-number", "card", 4.5},
	} {
		for mode, name := range []string{"light", "dark"} {
			a, b := luminance(t, colours[pair.ink][mode]), luminance(t, colours[pair.on][mode])
			if ratio := (math.Max(a, b) + 0.05) / (math.Min(a, b) + 0.05); ratio < pair.least {
				t.Errorf("%s on %s, %s: %.2f to 1", pair.ink, pair.on, name, ratio)
			}
		}
	}
}

// luminance is the relative one of a colour (WCAG 2.2).
func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("%q is no colour", colour)
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
