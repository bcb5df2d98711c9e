package sqlparse

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// otherStatements are the words that begin a statement of PostgreSQL or DuckDB
// that is not a query. The parser never sees such a statement.
var otherStatements = []string{
	"abort", "alter", "analyse", "analyze", "attach", "begin", "call", "checkpoint", "close", "cluster", "comment",
	"commit", "copy", "create", "deallocate", "declare", "delete", "describe", "detach", "discard", "do", "drop",
	"end", "execute", "explain", "export", "fetch", "force", "grant", "import", "insert", "install", "listen", "load",
	"lock", "merge", "move", "notify", "pivot", "pragma", "prepare", "reassign", "refresh", "reindex", "release",
	"reset", "revoke", "rollback", "savepoint", "security", "set", "show", "start", "summarize", "table", "truncate",
	"uninstall", "unlisten", "unpivot", "update", "use", "vacuum",
}

func notAQuery(span diagnostic.Span, word string) *diagnostic.Diagnostic {
	d := diagnostic.New("D004", span, "%s is not a query", strings.ToUpper(word)).
		Because("only SELECT, VALUES and WITH are answered: nothing an analyst sends may change data or settings")
	switch word {
	case "explain":
		d.Try("discreet explain 'SELECT ...' shows cost and expected error for free").By(diagnostic.ExplainFree)
	case "describe", "show", "summarize":
		d.Try("discreet tables shows what is declared; discreet explain 'SELECT ...' what a question would cost").By(diagnostic.ListTables)
	case "table":
		d.Try("write SELECT * FROM the table")
	case "pivot":
		d.Try("write a column for each value: count(*) FILTER (WHERE x = 'value')")
	case "unpivot":
		d.Try("write a SELECT for each column, and UNION ALL between them")
	case "pragma", "reset", "set":
		d.Try("cost and confidence are flags of the command, everything else is declared in the catalog").By(diagnostic.ChangeSetting)
	case "copy", "export":
		d.Try("write the answer to a file: discreet query --format csv ... > answer.csv").By(diagnostic.StoreAnswer)
	case "prepare", "execute", "deallocate":
		d.Try("send the statement itself, with its constants")
	case "begin", "commit", "end", "rollback", "savepoint", "start", "abort", "release":
		d.Try("leave it out: each statement is charged and answered by itself")
	default:
		d.Try("ask with SELECT; only the owner changes data and settings, in the files and the catalog")
	}
	return d
}

// Ways out of whole families of refusals.
const (
	otherFunctions = "discreet help D013 lists the functions; for anything else ask the owner to store the value as a column of its own"
	otherOperators = "write it with + - * / % ^ || = <> < <= > >= ~ LIKE, or ask the owner to store the value as a column of its own"
)

// unstable gives the reason why a function's value is not determined by the
// rows that a query reads.
func unstable(function string) string {
	switch function {
	case "now", "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp",
		"transaction_timestamp", "statement_timestamp", "clock_timestamp", "timeofday":
		return "depends on when it is asked"
	case "random", "random_normal", "gen_random_uuid", "uuid", "uuidv4", "uuidv7", "uuid_generate_v4", "setseed", "nextval", "currval", "lastval":
		return "changes with each call"
	case "current_user", "current_role", "session_user", "system_user", "user", "current_catalog", "current_schema",
		"current_database", "current_setting", "version", "pg_backend_pid", "inet_client_addr", "txid_current":
		return "depends on the session"
	case "pg_sleep", "pg_sleep_for", "pg_sleep_until":
		return "takes as long as the analyst likes"
	}
	return ""
}

// operatorHint says what to write instead of an operator that is not modelled.
func operatorHint(op string) string {
	switch op {
	case "==":
		return "write ="
	case "&&":
		return "write AND"
	case "~~", "~~*", "!~~", "!~~*", "^@":
		return "write LIKE or ILIKE"
	case "**":
		return "write ^ or power(x, y)"
	case "//":
		return "write / between integers, or floor(x / y)"
	case "|/":
		return "write sqrt(x)"
	case "@":
		return "write abs(x)"
	case "->", "->>", "#>", "#>>", "@>", "<@", "?", "?|", "?&", "@?", "@@":
		return "declare the value as a column of its own"
	case "||/":
		return "write power(x, 1.0 / 3)"
	case "<=>":
		return "write IS NOT DISTINCT FROM"
	case "~~~":
		return "write LIKE, with % for * and _ for ?"
	case "!!", "!":
		return "write NOT"
	}
	return ""
}

// foreignWords are words of other dialects, at or behind which PostgreSQL's
// grammar stops, with what to write instead.
var foreignWords = map[string]string{
	"anti":       "write WHERE NOT EXISTS (SELECT ...)",
	"asof":       "join on an equality and a range, or match the times within each unit",
	"div":        "write / between integers, or trunc(x / y)",
	"glob":       "write LIKE, with % for * and _ for ?",
	"pivot":      "write a column for each value: count(*) FILTER (WHERE x = 'value')",
	"positional": "join on a column: rows have no positions",
	"qualify":    "put the query into FROM, and WHERE around it",
	"regexp":     "write x ~ 'pattern'",
	"rlike":      "write x ~ 'pattern'",
	"sample":     "leave it out: the cost is the same for all rows, and the answer is better",
	"semi":       "write WHERE EXISTS (SELECT ...)",
	"summarize":  "write the aggregates that are wanted: SELECT count(*), avg(x), ...",
	"unpivot":    "write a SELECT for each column, and UNION ALL between them",
	"xor":        "write <> between two conditions",
}
