package catalog

import (
	"fmt"
	"regexp"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Books says where the ledger is.
type Books struct {
	// Variable is the environment variable that holds the URL of the PostgreSQL database that
	// has the ledger: a secret never stands in a file. Empty: the ledger is a file.
	Variable string
	// Replicated wants a synchronous replica of the database before anybody is charged.
	Replicated bool
}

// booksVariable is what a command sees of its environment (internal/cli/wall).
var booksVariable = regexp.MustCompile(`^DISCREET_LEDGER(_[A-Z0-9_]+)?$`)

func (l *loader) books(n *node) {
	l.keys(n, "url", "replicated")
	b := &l.catalog.Books
	b.Replicated, _ = l.boolean(n.field("replicated"))
	b.Variable = l.urlIn(n, "ledger", "DISCREET_LEDGER", func(name string) bool {
		return booksVariable.MatchString(name) && name != "DISCREET_LEDGER_KEY_FILE"
	})
}

// urlIn reads which variable holds the URL of a section's database: the usual one, or another that may.
func (l *loader) urlIn(n *node, section, usual string, may func(name string) bool) (variable string) {
	hint := fmt.Sprintf(`write url = { env = %q } and put the URL into that variable`, usual)
	url := n.field("url")
	switch {
	case url == nil:
		l.missing(n, "url", hint)
		return ""
	case url.kind != tableNode:
		// Without its place: the line would be shown.
		l.refuse("D084", diagnostic.Span{}, "the database's URL cannot stand in the catalog, as url of [%s]", section).
			Because("it can hold a password, and a secret never stands in a file").Try("%s", hint)
		return ""
	}
	l.keys(url, "env")
	env := url.field("env")
	if env == nil {
		l.missing(url, "env", hint)
		return ""
	}
	variable, ok := l.str(env)
	if ok && !may(variable) {
		l.refuse("D084", env.value, "%q cannot name the variable that holds the URL", variable).
			Because("of its environment a command sees %[1]s and what begins with %[1]s_, so that no other variable decides what it does", usual).Try("%s", hint)
	}
	return variable
}

// ReadBooks reads from a catalog where the ledger is, whatever else is wrong in it.
func ReadBooks(path string) (Books, error) {
	text, err := read(path)
	if err != nil {
		return Books{}, err
	}
	l := &loader{catalog: &Catalog{Path: path}, text: text}
	if root, refused := parseDocument(text); refused != nil {
		l.problems = append(l.problems, refused)
	} else if n, ok := l.table(root.field("ledger")); ok {
		l.books(n)
	}
	return l.catalog.Books, l.refused(path)
}
