package catalog

import (
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
	const hint = `write url = { env = "DISCREET_LEDGER" } and put the URL into that variable`
	url := n.field("url")
	switch {
	case url == nil:
		l.missing(n, "url", hint)
		return
	case url.kind != tableNode:
		// Without its place: the line would be shown.
		l.refuse("D084", diagnostic.Span{}, "the database's URL cannot stand in the catalog, as url of [ledger]").
			Because("it can hold a password, and a secret never stands in a file").Try("%s", hint)
		return
	}
	l.keys(url, "env")
	env := url.field("env")
	if env == nil {
		l.missing(url, "env", hint)
		return
	}
	if name, ok := l.str(env); ok {
		if b.Variable = name; !booksVariable.MatchString(name) || name == "DISCREET_LEDGER_KEY_FILE" {
			l.refuse("D084", env.value, "%q cannot name the variable that holds the URL", name).
				Because("of its environment a command sees DISCREET_LEDGER and what begins with DISCREET_LEDGER_, so that no other variable decides what it does").Try("%s", hint)
		}
	}
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
