package trino

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// Trino's access control is the cluster's own affair: no query tells what a user may do. So the
// user is tried. A statement that would write is analysed (EXPLAIN with TYPE VALIDATE), which asks
// for the right to it and runs nothing; tables are listed, of which a user is shown those that it
// may read.

// checkUser refuses a user that can write to a declared table or beside it, or is shown others.
func (e *Engine) checkUser(ctx context.Context) error {
	declared, schemas, catalogs := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var may []string
	tries := func(what, sql string) error {
		_, err := e.query(ctx, "EXPLAIN (TYPE VALIDATE) "+sql)
		var said *failed
		switch {
		case err == nil:
			may = append(may, what)
			return nil
		case errors.As(err, &said) && said.Kind == "USER_ERROR":
			return nil // it may not, or nobody may
		}
		return err
	}
	for _, t := range e.catalog.Tables {
		if nameless(t) != nil || declared[t.Source.Text] {
			continue
		}
		name := relation(t)
		declared[t.Source.Database+"\x00"+t.Source.Schema+"\x00"+t.Source.Table] = true
		if err := errors.Join(tries("may write to "+t.Source.Text, "INSERT INTO "+name+" SELECT * FROM "+name),
			tries("may delete from "+t.Source.Text, "DELETE FROM "+name+" WHERE FALSE")); err != nil {
			return unconnected(ctx, err)
		}
		schema := quote(t.Source.Database) + "." + quote(t.Source.Schema)
		if !schemas[schema] {
			schemas[schema] = true
			if err := tries("may make tables in "+schema, "CREATE TABLE "+schema+`."discreet_looks" AS SELECT 1 AS a`); err != nil {
				return unconnected(ctx, err)
			}
		}
		catalogs[t.Source.Database] = true
	}
	shown, err := e.query(ctx, "SHOW CATALOGS")
	if err != nil {
		return unconnected(ctx, err)
	}
	for _, row := range shown {
		if row[0] != nil && *row[0] != "system" {
			catalogs[*row[0]] = true
		}
	}
	for c := range catalogs {
		rows, err := e.query(ctx, "SELECT table_schema, table_name FROM "+quote(c)+".information_schema.tables WHERE table_schema <> 'information_schema' LIMIT 10000")
		var said *failed
		if errors.As(err, &said) && said.Kind == "USER_ERROR" {
			continue // it is not shown
		}
		if err != nil {
			return unconnected(ctx, err)
		}
		for _, row := range rows {
			if row[0] == nil || row[1] == nil || !declared[c+"\x00"+*row[0]+"\x00"+*row[1]] {
				may = append(may, fmt.Sprintf("may see tables of catalog %s that are not declared", quote(c)))
				break
			}
		}
	}
	if len(may) == 0 {
		return nil
	}
	return diagnostic.New("D107", diagnostic.Span{}, "user %q may do more than read the declared tables", e.client.user).
		Because("it %s", strings.Join(may, "; it ")).
		Try("let a user for discreet alone select from the declared tables and nothing else, by the cluster's access control (docs/engines.md); or, where it must be this one, write accept_role = true under [engine]")
}
