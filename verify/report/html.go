package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html/template"
	"io"
	"path/filepath"
	"slices"

	"github.com/discreet-dp/discreet/verify"
)

//go:embed report.html
var pageText string

// The page's data.
type (
	page struct {
		Counts    []count
		Functions []function
	}
	count struct {
		Verdict verify.Verdict
		N       int
	}
	function struct {
		*verify.Result
		ID    string
		Place string // file:line
		Terms []term
		Lines []sourceLine
		Apart []remark // of lines that are not shown
	}
	// A term is one input of a counterexample.
	term struct{ Name, First, Second string }
	// A sourceLine is a line with what is said of it.
	sourceLine struct {
		N       int
		Text    string
		Remarks []remark
	}
	// A remark is said of a line: Kind is a class of the style sheet.
	remark struct{ Kind, Place, Text string }
)

// HTML writes a report as one page that loads nothing: each function's source, and
// beside it the coupling of each draw, what statements cost, the invariants of loops,
// and where a proof ends. Files are named relative to root where they are below it.
func HTML(w io.Writer, r *verify.Report, root string, read Reader) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"apart":    Apart,
		"interval": Interval,
		"unit":     Unit,
		"forced":   Forced,
		"fails":    Fails,
	}).Parse(pageText)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	var p page
	files := lines{read: read}
	tally := map[verify.Verdict]int{}
	for i := range r.Results {
		result := &r.Results[i]
		tally[result.Verdict]++
		p.Functions = append(p.Functions, laidOut(result, fmt.Sprintf("f%d", i), root, &files))
	}
	for _, v := range []verify.Verdict{verify.Proved, verify.ProvedBounded, verify.Refuted, verify.RefutedStatistical, verify.Unknown} {
		if tally[v] > 0 {
			p.Counts = append(p.Counts, count{v, tally[v]})
		}
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// laidOut puts what is known of a function beside its lines.
func laidOut(r *verify.Result, id, root string, files *lines) function {
	name := Relative(root, r.File)
	f := function{Result: r, ID: id, Place: fmt.Sprintf("%s:%d", name, r.Line)}
	if c := r.Counterexample; c != nil {
		f.Terms = terms(c)
	}
	first, last := extent(files, r.File, r.Line)
	for n := first; n <= last; n++ {
		f.Lines = append(f.Lines, sourceLine{N: n, Text: files.line(r.File, n)})
	}
	say := func(file string, line int, kind, text string) {
		if file = cmp.Or(file, r.File); file == r.File && line >= first && line <= last {
			at := &f.Lines[line-first]
			at.Remarks = append(at.Remarks, remark{Kind: kind, Text: text})
			return
		}
		place := ""
		if line > 0 {
			place = fmt.Sprintf("%s:%d", Relative(root, file), line)
		}
		f.Apart = append(f.Apart, remark{kind, place, text})
	}
	for _, s := range r.Alignment {
		say(s.File, s.Line, "alignment", s.Draw+" moves by "+s.Shift)
	}
	for _, s := range r.Proof {
		say(s.File, s.Line, string(cmp.Or(s.Kind, verify.Argument)), s.Text)
	}
	for _, p := range r.Problems {
		text := p.Text
		if p.Hint != "" {
			text += "; " + p.Hint
		}
		say(p.File, p.Line, "problem", text)
	}
	return f
}

// terms pairs the inputs of a counterexample.
func terms(c *verify.Counterexample) (all []term) {
	for name, v := range c.Inputs {
		t := term{Name: name, First: value(v), Second: value(v)}
		if second, ok := c.Neighbour[name]; ok {
			t.Second = value(second)
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b term) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// extent returns the lines of the function that stands at a line, from its comment
// on; none if the file is not as it was.
func extent(files *lines, file string, line int) (first, last int) {
	text, err := files.read(file)
	if err != nil {
		return 1, 0
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return 1, 0
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		at := func(p token.Pos) int { return fset.PositionFor(p, false).Line }
		start := at(f.Pos())
		if f.Doc != nil {
			start = at(f.Doc.Pos())
		}
		if start <= line && line <= at(f.End()) {
			return start, at(f.End())
		}
	}
	return 1, 0
}

// Relative names a file as seen from root where it is below it.
func Relative(root, file string) string {
	if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return file
}
