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
		d.Try("discreet explain 'SELECT ...' shows cost and expected error for free")
	case "describe", "show", "summarize":
		d.Try("discreet explain 'SELECT ...' shows what a question would cost")
	case "table":
		d.Try("write SELECT * FROM the table")
	}
	return d
}

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
	case "->", "->>", "#>", "#>>", "@>", "<@", "?":
		return "declare the value as a column of its own"
	}
	return ""
}
