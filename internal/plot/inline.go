package plot

import (
	"bytes"
	"errors"
	"slices"
)

// Inline draws d as an element of a page that has Stylesheet: without styles of its own,
// which would be the page's, and which a page's policy may forbid.
func Inline(d Drawing) ([]byte, error) {
	var b bytes.Buffer
	if err := d.WriteSVG(&b); err != nil {
		return nil, err
	}
	// What is drawn has no other element of that name: its texts are escaped.
	before, rest, began := bytes.Cut(b.Bytes(), []byte("<style>"))
	_, after, ended := bytes.Cut(rest, []byte("</style>\n"))
	if !began || !ended {
		return nil, errors.New("draw inline: the drawing has no styles")
	}
	return slices.Concat(before, after), nil
}

// Stylesheet is what Inline leaves out, for the elements that a selector of CSS names.
func Stylesheet(of string) string { return of + "{\n" + style() + dotStyle + areaStyle + "}\n" }
