package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// A directive is a comment //dp:VERB TEXT.
type directive struct {
	verb, text string
	pos        token.Pos // of the comment
	at         token.Pos // of the text
}

// directives are those of a file, by what they speak of.
type directives struct {
	functions  map[*ast.FuncDecl][]directive
	statements map[ast.Stmt][]directive
	strays     []stray
}

// A stray directive speaks of nothing.
type stray struct {
	in      *ast.FuncDecl // nil outside functions
	refusal Refusal
}

// verbs says what each speaks of.
var verbs = map[string]string{
	"adjacent":    onFunction,
	"requires":    onFunction,
	"cost":        onFunction,
	"sensitivity": onFunction,
	"align":       onDraw,
	"invariant":   onLoop,
}

const (
	onFunction = "the comment of a function"
	onDraw     = "the line above NAME := src.Draw(...)"
	onLoop     = "the line above a loop"
)

var (
	directiveForm = regexp.MustCompile(`^//dp:([^\s]*)[ \t]*(.*?)[ \t\r]*$`)
	spacedForm    = regexp.MustCompile(`^(//|/\*)[\s]*dp:[\s]*(adjacent|requires|cost|sensitivity|align|invariant)\b`)
)

func readDirectives(in *checked, file *ast.File) *directives {
	d := &directives{functions: map[*ast.FuncDecl][]directive{}, statements: map[ast.Stmt][]directive{}}
	docs := map[*ast.CommentGroup]*ast.FuncDecl{}
	var functions []*ast.FuncDecl
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			functions = append(functions, f)
			if f.Doc != nil {
				docs[f.Doc] = f
			}
		}
	}
	line := func(p token.Pos) int { return in.fset.Position(p).Line }
	starts := map[int]ast.Stmt{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.LabeledStmt:
			// A directive stands above the label.
			if _, taken := starts[line(s.Pos())]; !taken {
				starts[line(s.Pos())] = s.Stmt
			}
		case *ast.ForStmt, *ast.RangeStmt, *ast.AssignStmt:
			if _, taken := starts[line(s.Pos())]; !taken {
				starts[line(s.Pos())] = s.(ast.Stmt)
			}
		}
		return true
	})
	for _, group := range file.Comments {
		owner := docs[group]
		below := starts[line(group.End())+1]
		for _, c := range group.List {
			within := owner
			for _, f := range functions {
				if f.Pos() <= c.Pos() && c.Pos() < f.End() {
					within = f
				}
			}
			refuse := func(what, why, hint string) {
				d.strays = append(d.strays, stray{within, Refusal{in.fset.Position(c.Pos()), what, why, hint}})
			}
			m := directiveForm.FindStringSubmatchIndex(c.Text)
			if m == nil {
				if spacedForm.MatchString(c.Text) {
					refuse("comment "+firstLine(c.Text), "looks like a directive and is none", "write //dp: at the beginning of the line comment, without spaces")
				}
				continue
			}
			note := directive{verb: c.Text[m[2]:m[3]], text: c.Text[m[4]:m[5]], pos: c.Pos(), at: c.Pos() + token.Pos(m[4])}
			place, known := verbs[note.verb]
			switch {
			case !known:
				refuse("directive //dp:"+note.verb, "there is no such directive", nearestVerb(note.verb))
				if owner != nil {
					d.functions[owner] = append(d.functions[owner], directive{}) // it was meant to have a claim
				}
			case place == onFunction && owner != nil:
				d.functions[owner] = append(d.functions[owner], note)
			case place == onDraw && isDrawStmt(in, below), place == onLoop && isLoop(below):
				d.statements[below] = append(d.statements[below], note)
			default:
				refuse("directive //dp:"+note.verb, "it speaks of nothing here", "its place is "+place)
			}
		}
	}
	return d
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

func isLoop(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ForStmt, *ast.RangeStmt:
		return true
	}
	return false
}

// isDrawStmt reports whether s is NAME := draw, or NAME, err := draw.
func isDrawStmt(in *checked, s ast.Stmt) bool {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Rhs) != 1 || (a.Tok != token.DEFINE && a.Tok != token.ASSIGN) {
		return false
	}
	call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
	if !ok {
		return false
	}
	_, ok = lawOf(in.info, call)
	return ok
}

// nearestVerb names the verb with the fewest edits.
func nearestVerb(s string) string {
	best, least := "", 4
	for _, v := range []string{"adjacent", "requires", "cost", "sensitivity", "align", "invariant"} {
		if d := edits(s, v); d < least {
			best, least = v, d
		}
	}
	if best == "" {
		return "directives are adjacent, requires, cost, sensitivity, align and invariant"
	}
	return fmt.Sprintf("did you mean //dp:%s?", best)
}

// edits is Levenshtein's distance, of short words.
func edits(a, b string) int {
	if len(a) > 32 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
