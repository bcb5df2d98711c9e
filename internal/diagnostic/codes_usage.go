package diagnostic

// D110-D119: the command line.
var usageEntries = []Entry{
	{"D110", "unknown command",
		"The first word of the command line is a command, or the code of a refusal after help. discreet help lists the commands.",
		"discreet qeury 'SELECT count(*) FROM visits'"},
	{"D111", "unknown flag",
		"A flag that is not known might be a misspelt one, and a limit that silently does not hold is worse than none. discreet help COMMAND lists its flags.",
		"discreet query --epsilom 1 'SELECT count(*) FROM visits'"},
	{"D112", "a flag's value that cannot be read",
		"Amounts of privacy loss are finite decimals above zero, such as 0.1 or 1e-7, and mean exactly the number written.",
		"discreet query --epsilon NaN 'SELECT count(*) FROM visits'"},
	{"D113", "arguments that do not fit",
		"A statement is one argument: put it in quotes, or in a file for -f, or on standard input for -.",
		"discreet query --epsilon 1 SELECT count(*) FROM visits"},
	{"D114", "a file of the command line that cannot be read",
		"The file that -f names is missing or unreadable.",
		"discreet query --epsilon 1 -f nowhere.sql"},
	{"D115", "flags that exclude each other",
		"A statement comes from one place and an answer has one format.",
		"discreet query --epsilon 1 --json --format csv 'SELECT count(*) FROM visits'"},
	{"D116", "a folder that demo does not own",
		"demo writes its data set into a folder of its own. It refuses one that holds anything else, and one whose ledger was used: a budget is not refilled.",
		"discreet demo --dir /"},
	{"D117", "this build has no engine",
		"DuckDB is linked by cgo. A binary that was built without cgo analyses, explains and keeps ledgers; it does not read data.",
		""},
}
