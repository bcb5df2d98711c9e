package catalog

import (
	"cmp"
	"regexp"
	"strings"
)

// A Kind is what holds the records of a catalog's tables.
type Kind string

// The kinds.
const (
	Embedded   Kind = "duckdb"   // files, read by DuckDB in this process
	PostgreSQL Kind = "postgres" // tables of a PostgreSQL database
	Trino      Kind = "trino"    // tables of a Trino cluster
)

// An Engine says which database holds the records.
type Engine struct {
	Kind Kind
	// Variable is the environment variable that holds the database's URL: a secret never
	// stands in a file. Empty with Embedded.
	Variable string
	// AcceptRole lets a role be used that can write, or that sees more than the catalog
	// declares.
	AcceptRole bool
}

// Remote reports whether the records are in a database of their own, and no source is a file.
func (e Engine) Remote() bool { return e.Kind != Embedded }

// variable is what the command sees of its environment (internal/cli/wall).
var variable = regexp.MustCompile(`^DISCREET_ENGINE(_[A-Z0-9_]+)?$`)

func (l *loader) engine(n *node) {
	e := &l.catalog.Engine
	kind, ok := l.str(n.field("kind"))
	switch {
	case n.field("kind") == nil:
		l.missing(n, "kind", `write kind = "postgres", or leave [engine] out: DuckDB then reads the files`)
		return
	case !ok:
		return
	case kind == string(Embedded):
		l.keys(n, "kind")
		return
	case kind != string(PostgreSQL) && kind != string(Trino):
		l.refuse("D084", n.field("kind").value, "there is no engine %q", kind).Try(`use "duckdb" (files, the default), "postgres" or "trino"`)
		return
	}
	e.Kind = Kind(kind)
	l.keys(n, "kind", "url", "accept_role")
	e.AcceptRole, _ = l.boolean(n.field("accept_role"))
	e.Variable = l.urlIn(n, "engine", "DISCREET_ENGINE", variable.MatchString)
}

// named reads a source that is a table of a database: one to three parts with dots between
// them, as the database spells them. A part in double quotes may hold dots.
func (l *loader) named(n *node, text string) (Source, bool) {
	s, why, hint := ParseName(text)
	if why != "" {
		l.refuse("D087", n.value, "%q cannot be a source", text).Because("%s", why).Try("%s", hint)
	}
	return s, why == ""
}

// ParseName reads the name of a database's table, or says why it is none, and what to write.
func ParseName(text string) (s Source, why, hint string) {
	refuse := func(why, hint string) (Source, string, string) { return Source{}, why, hint }
	parts, ok := nameParts(text)
	switch bad := BadName(text); {
	case bad != "":
		return refuse("it "+bad, `name a table, as in "public.visits"`)
	case strings.Contains(text, "#") || strings.ContainsAny(text, "/*"):
		return refuse("[engine] names a database, and a source is a table of it", `name a table, as in "public.visits"`)
	case !ok || len(parts) > 3:
		return refuse("the name of a table has one to three parts, with a dot between them", `write it as in "visits", "public.visits" or "clinic.public.visits"; a part that has a dot itself stands in double quotes`)
	}
	s = Source{Text: text, Format: Relation, Schema: "public", Table: parts[len(parts)-1]}
	if len(parts) > 1 {
		s.Schema = parts[len(parts)-2]
	}
	if len(parts) > 2 {
		s.Database = parts[0]
	}
	if system := Fold(s.Schema); strings.HasPrefix(system, "pg_") || system == "information_schema" {
		return refuse("the database keeps tables of its own in that schema", "name a table with records of yours")
	}
	for _, suffix := range []string{".csv", ".parquet", ".jsonl", ".csv.gz", ".jsonl.gz", ".csv.zst", ".jsonl.zst"} {
		if hasEnding(text, suffix) {
			return refuse("[engine] names a database, and this looks like a file", "remove [engine] to read files, or name a table of the database")
		}
	}
	return s, "", ""
}

// nameParts divides a name at its dots. A quote within quotes is doubled.
func nameParts(text string) (parts []string, ok bool) {
	for rest := text; ; {
		var part string
		if strings.HasPrefix(rest, `"`) {
			end := 1
			for {
				i := strings.IndexByte(rest[end:], '"')
				if i < 0 {
					return nil, false
				}
				if end += i + 1; end == len(rest) || rest[end] != '"' {
					break
				}
				end++
			}
			part, rest = strings.ReplaceAll(rest[1:end-1], `""`, `"`), rest[end:]
			if rest != "" && rest[0] != '.' {
				return nil, false
			}
		} else {
			end := cmp.Or(strings.IndexByte(rest, '.')+1, len(rest)+1) - 1
			part, rest = rest[:end], rest[end:]
			if strings.Contains(part, `"`) {
				return nil, false
			}
		}
		if part == "" {
			return nil, false
		}
		parts = append(parts, part)
		if rest == "" {
			return parts, true
		}
		rest = rest[1:]
	}
}

// Name is a table of a database as it is declared, in its plainest spelling: schema and table, behind
// a database if one is named.
func (s Source) Name() string {
	spell := func(part string) string {
		if strings.ContainsAny(part, `."`) {
			return `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
		}
		return part
	}
	name := spell(s.Schema) + "." + spell(s.Table)
	if s.Database != "" {
		name = spell(s.Database) + "." + name
	}
	return name
}
