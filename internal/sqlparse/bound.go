package sqlparse

import "github.com/discreet-dp/discreet/internal/diagnostic"

// Bound refuses a text that must not reach the parser: one that is too long, nested too
// deep, or takes too long to read. It returns the text as the parser is to read it, with the
// same places. Unlike Parse it lets any number of statements of any kind pass.
func Bound(text string) (plain string, d *diagnostic.Diagnostic) {
	defer func() {
		if recover() != nil {
			plain, d = "", diagnostic.New("D002", diagnostic.Span{}, brokenParser)
		}
	}()
	if d := checkText(text); d != nil {
		return "", d
	}
	src, d := scan(text)
	if d != nil {
		return "", d
	}
	for _, check := range []func() *diagnostic.Diagnostic{src.depth, src.work} {
		if d := check(); d != nil {
			return "", d
		}
	}
	return src.plain, nil
}
