package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A role is looked at with all roles that it may become. What anybody may do to the system's
// own relations counts for nothing; what anybody may do elsewhere counts, since this role may do
// it too. Temporary tables, which hold what their session puts there, are no matter.

// roleCheck gives, for each thing that the role may do too much, what it is. $declared are the oids
// of the declared tables and their parts.
const roleCheck = `
WITH roles AS (SELECT oid, rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')),
self AS (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
schemas AS (SELECT n.oid, n.nspname, n.nspname LIKE 'pg\_%' OR n.nspname = 'information_schema' AS system FROM pg_namespace AS n WHERE n.nspname NOT LIKE 'pg\_temp\_%' AND n.nspname NOT LIKE 'pg\_toast%'),
relations AS (SELECT c.oid, c.relkind, s.system, s.oid AS within, format('%I.%I', s.nspname, c.relname) AS named
	FROM pg_class AS c JOIN schemas AS s ON s.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')),
rights AS (SELECT DISTINCT l.oid, l.system, l.named,
	CASE WHEN l.relkind = 'S' THEN has_sequence_privilege(r.oid, l.oid, 'UPDATE, USAGE') AND NOT (l.system AND has_sequence_privilege('public', l.oid, 'UPDATE, USAGE'))
		ELSE has_table_privilege(r.oid, l.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') AND NOT (l.system AND has_table_privilege('public', l.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER'))
			OR has_any_column_privilege(r.oid, l.oid, 'INSERT, UPDATE, REFERENCES') AND NOT (l.system AND has_any_column_privilege('public', l.oid, 'INSERT, UPDATE, REFERENCES')) END AS writes,
	CASE WHEN l.relkind = 'S' THEN has_sequence_privilege(r.oid, l.oid, 'SELECT') AND NOT (l.system AND has_sequence_privilege('public', l.oid, 'SELECT'))
		ELSE has_any_column_privilege(r.oid, l.oid, 'SELECT') AND NOT (l.system AND has_any_column_privilege('public', l.oid, 'SELECT')) END AS reads
	FROM relations AS l CROSS JOIN roles AS r WHERE has_schema_privilege(r.oid, l.within, 'USAGE')),
said(rank, what) AS (
SELECT 2, 'is a member of ' || rolname FROM roles WHERE oid < 16384 AND rolname LIKE 'pg\_%'
UNION ALL SELECT 2, 'may make roles' FROM roles WHERE rolcreaterole
UNION ALL SELECT 2, 'may make databases' FROM roles WHERE rolcreatedb
UNION ALL SELECT 2, 'may replicate, and so read every table' FROM roles WHERE rolreplication
UNION ALL SELECT 3, 'may write to ' || named FROM rights WHERE writes
UNION ALL SELECT 4, 'may read ' || named || ', which is not declared' FROM rights WHERE reads AND oid NOT IN ($declared)
UNION ALL SELECT 5, 'may make tables in schema ' || quote_ident(s.nspname) FROM schemas AS s CROSS JOIN roles AS r WHERE has_schema_privilege(r.oid, s.oid, 'CREATE')
UNION ALL SELECT 5, 'may make schemas' FROM roles AS r WHERE has_database_privilege(r.oid, current_database(), 'CREATE')
UNION ALL SELECT 6, 'may run ' || p.oid::regprocedure || ' with its owner''s rights' FROM pg_proc AS p JOIN schemas AS s ON s.oid = p.pronamespace CROSS JOIN roles AS r
	WHERE p.prosecdef AND NOT s.system AND has_function_privilege(r.oid, p.oid, 'EXECUTE') AND has_schema_privilege(r.oid, s.oid, 'USAGE'))
SELECT 1, 'is a superuser' FROM self WHERE rolsuper
UNION SELECT 1, 'may become a superuser' FROM roles WHERE rolsuper AND NOT (SELECT rolsuper FROM self)
UNION SELECT rank, what FROM said WHERE NOT EXISTS (SELECT FROM roles WHERE rolsuper)
ORDER BY 1, 2 LIMIT 6`

// checkRole refuses a role that can write, or can see more than the tables of those oids.
func checkRole(ctx context.Context, t *transaction, declared []string) error {
	text := strings.Replace(roleCheck, "$declared", strings.Join(declared, ", "), 1)
	results, err := t.conn.Exec(ctx, text+"; SELECT current_user").ReadAll()
	if err != nil || len(results) != 2 || len(results[1].Rows) != 1 {
		return unconnected(ctx, errors.Join(err, errors.New("the role was not looked at")))
	}
	rows := results[0].Rows
	if len(rows) == 0 {
		return nil
	}
	const shown = 5
	var may []string
	for _, row := range rows[:min(len(rows), shown)] {
		may = append(may, string(row[1]))
	}
	if len(rows) > shown {
		may = append(may, "and more")
	}
	return diagnostic.New("D107", diagnostic.Span{}, "role %q may do more than read the declared tables", results[1].Rows[0][0]).
		Because("it %s", strings.Join(may, "; it ")).
		Try("make a role for discreet alone, with SELECT on the declared tables and nothing else (docs/engines.md); or, where it must be this one, write accept_role = true under [engine]")
}
