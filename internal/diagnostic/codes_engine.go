package diagnostic

// D100-D109: the engine and its resources.
var engineEntries = []Entry{
	{"D100", "the answer could not be computed",
		"The engine failed, or ran out of memory, disk or time. That may depend on the data, so the message is always the same and the charge stays. The owner finds the cause in the ledger's history. The domain is suspended until the owner acknowledges the event.",
		""},
	{"D101", "a source cannot be opened",
		"A file of the catalog is missing, cannot be read, or lacks a declared column; or its database cannot be reached, or the table there is none that can be read (docs/engines.md). Run discreet check.",
		""},
	{"D102", "interrupted",
		"The command was told to stop. The amount that was reserved by then stays spent, whatever was computed: otherwise an answer would be free for those who stop at the right moment.",
		""},
	{"D103", "the engine cannot plan this statement",
		"The SQL for the engine is nested too deeply, or uses something that the engine lacks. The engine planned it over empty tables, so no data was read and nothing was charged. Compute the answer in fewer or simpler steps.",
		""},
	{"D106", "the engine cannot compute this",
		"Nothing in the data may make a statement fail, so that every function has a form in each engine that gives NULL where it would raise. What has no such form in the catalog's engine is refused there; another engine may have it. Trino tries all ways in which a pattern can read a text: one that can do so in exponentially many ways, as ([a-z]+ ?)+$, is refused there.",
		""},
	{"D107", "a role that may do too much",
		"Discreet reads a database as a role that can read the declared tables and nothing else. A role that can write, or that can read more, is refused unless the catalog says accept_role = true.",
		""},
	{"D108", "a table that is not prepared",
		"discreet prepare copies tables into a folder that the catalog names. There is none, a file changes while it is copied, the copy is too large or cannot be written, or the table is in no file that is copied. Statements read the table where it is, as before.",
		"discreet prepare shifts"},
	{"D109", "the system failed",
		"Something failed that has nothing to do with the statement, such as a file that could not be written. The message says what.",
		""},
}
