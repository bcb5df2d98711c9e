package plot

import (
	"strings"
	"unicode"
)

// width estimates how wide a text is in a sans-serif font of a size. A page's font is
// not known here, so it is an estimate from above for common fonts.
func width(s string, size float64) float64 {
	sum := 0.0
	for _, r := range s {
		switch {
		case strings.ContainsRune("ijl.,:;'|!()[]{} ⁻¹", r):
			sum += 0.38
		case strings.ContainsRune("mwMW@%—…", r), unicode.Is(unicode.Han, r):
			sum += 1
		case unicode.IsUpper(r), strings.ContainsRune("+=<>±×−∞≤≥~_", r):
			sum += 0.78
		case unicode.Is(unicode.Mn, r):
		default:
			sum += 0.63
		}
	}
	return sum * size
}

// wrap breaks a text at its blanks into lines that are no wider than room. A word that
// is wider is cut.
func wrap(s string, size, room float64) (lines []string) {
	for _, word := range strings.Fields(s) {
		if n := len(lines); n > 0 && width(lines[n-1]+" "+word, size) <= room {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, elide(word, size, room))
	}
	return lines
}

// elide cuts a text so that it is no wider than room.
func elide(s string, size, room float64) string {
	if width(s, size) <= room {
		return s
	}
	runes := []rune(s)
	for n := len(runes) - 1; n > 0; n-- {
		if short := string(runes[:n]) + "…"; width(short, size) <= room {
			return short
		}
	}
	return "…"
}

// A block is a name beside the data: so high, and best with its middle at want.
type block struct {
	want, height float64
	top          float64 // where it comes to lie
}

// spread lays out blocks, ordered by where they want to be, between top and bottom
// without overlap, if they fit.
func spread(blocks []*block, top, bottom float64) {
	at := top
	for _, b := range blocks {
		b.top = max(at, b.want-b.height/2)
		at = b.top + b.height
	}
	at = bottom
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		b.top = max(top, min(b.top, at-b.height))
		at = b.top
	}
}
