package catalog

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
)

// Load reads a catalog's file, and refuses one that others can change. Its error
// unwraps into all that is refused, in the order of the text.
func Load(path string) (*Catalog, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// read returns a catalog's text.
func read(path string) (string, error) {
	var exposed *custody.Exposed
	if err := custody.Guard(path); errors.As(err, &exposed) {
		d := diagnostic.New("D099", diagnostic.Span{}, "the catalog is not its owner's alone: %s", exposed.Path)
		d.In(path, "")
		return "", diagnostic.List{d.Because("%s", exposed.Why).Try("%s", exposed.Fix)}
	} else if err != nil {
		return "", unreadable(path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return "", unreadable(path, err)
	}
	return string(text), nil
}

func unreadable(path string, err error) error {
	d := diagnostic.New("D080", diagnostic.Span{}, "the catalog cannot be read")
	if d.In(path, ""); errors.Is(err, fs.ErrNotExist) {
		d.Message = "there is no such catalog"
		return diagnostic.List{d.Try("name it with --catalog FILE, or let `discreet init FILE...` propose one")}
	}
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return diagnostic.List{d.Because("%v", err)}
}

// Parse reads a catalog's text. Diagnostics call it name, and sources are
// relative to name's folder. Its error
// unwraps into all that is refused, in the order of the text.
func Parse(name, text string) (*Catalog, error) {
	digest := sha256.Sum256([]byte(text))
	l := &loader{
		catalog: &Catalog{Path: name, Text: text, Digest: digest[:], Confidence: 0.95, Engine: Engine{Kind: Embedded}},
		text:    text,
		tables:  map[*Table]*node{},
		columns: map[*Column]*node{},

		undecided: map[*node]bool{},
	}
	if root, refused := parseDocument(text); refused != nil {
		l.problems = append(l.problems, refused)
	} else {
		l.load(root)
	}
	if err := l.refused(name); err != nil {
		return nil, err
	}
	return l.catalog, nil
}

// refused returns what was refused, in the order of the text, or nil.
func (l *loader) refused(name string) error {
	if len(l.problems) == 0 {
		return nil
	}
	for _, d := range l.problems {
		d.In(name, l.text)
	}
	slices.SortStableFunc(l.problems, func(a, b *diagnostic.Diagnostic) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return l.problems
}

// A loader turns a document into a catalog. It goes on after a refusal, so
// that the owner sees all of them at once; a part that was refused is left
// zero, and what depends on it is not refused a second time.
type loader struct {
	catalog  *Catalog
	text     string
	problems diagnostic.List

	// The nodes of what was declared, for the passes that resolve names.
	tables  map[*Table]*node
	columns map[*Column]*node

	undecided map[*node]bool
}

func (l *loader) load(root *node) {
	l.markUndecided(root)
	l.keys(root, "domains", "defaults", "engine", "ledger", "resources", "tables", "views")
	if n, ok := l.table(root.field("domains")); ok {
		l.names(n, "domain", l.domain)
	}
	if n, ok := l.table(root.field("defaults")); ok {
		l.defaults(n)
	}
	if n, ok := l.table(root.field("resources")); ok {
		l.resources(n)
	}
	if n, ok := l.table(root.field("engine")); ok { // before the sources, which are its own
		l.engine(n)
	}
	if n, ok := l.table(root.field("ledger")); ok {
		l.books(n)
	}
	if n, ok := l.table(root.field("tables")); ok {
		l.names(n, "table", l.relation)
	}
	if n, ok := l.table(root.field("views")); ok {
		l.names(n, "view", l.view)
	}
	// Units and public domains name other tables: only now are all known.
	for _, t := range l.catalog.Tables {
		l.unit(t, l.tables[t])
		for _, c := range t.Columns {
			l.publicDomain(c, l.columns[c], t.Public)
		}
	}
	for _, v := range l.catalog.Views {
		for _, c := range v.Columns {
			l.publicDomain(c, l.columns[c], false)
		}
	}
	l.units()
	l.sources()
}

// refuse records a problem.
func (l *loader) refuse(code string, at diagnostic.Span, format string, args ...any) *diagnostic.Diagnostic {
	d := diagnostic.New(code, at, format, args...)
	l.problems = append(l.problems, d)
	return d
}

// table reports whether n is there and is a table.
func (l *loader) table(n *node) (*node, bool) {
	if n == nil {
		return nil, false
	}
	return n, n.kind == tableNode || l.wrong(n, "a table")
}

// keys refuses the keys of a table that are not among the known ones.
func (l *loader) keys(n *node, known ...string) {
	for _, f := range n.fields {
		if slices.Contains(known, f.name) {
			continue
		}
		d := l.refuse("D081", f.key, "unknown key %q", f.name)
		if near := diagnostic.Nearest(f.name, known); near != "" {
			d.Try("did you mean %q?", near)
		} else {
			d.Try("the keys here are %s", strings.Join(known, ", "))
		}
	}
}

// wrong refuses a value of the wrong form and returns false.
func (l *loader) wrong(n *node, want string) bool {
	if l.undecided[n] {
		return false
	}
	d := l.refuse("D084", n.place(), "%q must be %s, not %s", n.name, want, n.describe())
	if s, ok := n.data.(string); ok && unquoted[want] != nil && unquoted[want].MatchString(s) {
		d.Try("write it without quotes: %s = %s", n.name, s)
	}
	return false
}

// unquoted are the texts that, without their quotes, would be what is wanted.
var unquoted = map[string]*regexp.Regexp{
	"a number":       regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE]-?[0-9]+)?$`),
	"a whole number": regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`),
	"true or false":  regexp.MustCompile(`^(true|false)$`),
}

// missing refuses a table for want of a key.
func (l *loader) missing(n *node, key, hint string) {
	l.refuse("D083", n.place(), "%q has no %q", n.name, key).Try("%s", hint)
}

// proposed are the keys in which `discreet init` proposes a value with a "?" behind it.
var proposed = []string{"type", "unit", "delimiter", "decimal", "thousands", "date", "timestamp", "encoding"}

// markUndecided refuses what is marked as not decided yet. The mark is "?";
// where what stands before it can only be a proposal of `discreet init`, also
// a "?" at the end. Items of arrays are data, not settings, and may be "?".
func (l *loader) markUndecided(n *node) {
	for _, f := range n.fields {
		l.markUndecided(f)
		s, ok := f.data.(string)
		if !ok || s != "?" && (!strings.HasSuffix(s, "?") || !slices.Contains(proposed, f.name)) {
			continue
		}
		l.undecided[f] = true
		d := l.refuse("D082", f.value, "%q is undecided", f.name).Because("only the owner of the data can decide it")
		if s == "?" {
			d.Try("write the value that you decide on, or remove the key where it is optional")
		} else {
			d.Try("write %q if that is right", strings.TrimSuffix(s, "?"))
		}
	}
}

// str reads a string.
func (l *loader) str(n *node) (string, bool) {
	if n == nil || l.undecided[n] {
		return "", false
	}
	s, ok := n.data.(string)
	return s, ok || l.wrong(n, "a string")
}

// boolean reads true or false.
func (l *loader) boolean(n *node) (v, ok bool) {
	if n == nil {
		return false, false
	}
	v, ok = n.data.(bool)
	return v, ok || l.wrong(n, "true or false")
}

// rat reads a number as the decimal that was written: an integer, or the
// shortest decimal of a float64.
func (l *loader) rat(code string, n *node) (*big.Rat, bool) {
	if n == nil {
		return nil, false
	}
	switch v := n.data.(type) {
	case int64:
		return new(big.Rat).SetInt64(v), true
	case float64:
		r, err := numeric.FromFloat(v)
		if err != nil {
			l.refuse(code, n.value, "%q: %v", n.name, err)
		}
		return r, err == nil
	}
	return nil, l.wrong(n, "a number")
}

// amount reads an epsilon, delta or rho.
func amount[A any](l *loader, n *node, of func(*big.Rat) (A, error)) (a A, ok bool) {
	r, ok := l.rat("D086", n)
	if !ok {
		return a, false
	}
	a, err := of(r)
	if err != nil {
		l.refuse("D086", n.value, "%q: %v", n.name, err)
	}
	return a, err == nil
}
