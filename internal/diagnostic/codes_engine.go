package diagnostic

// D100-D109: the engine and its resources.
var engineEntries = []Entry{
	{"D100", "the answer could not be computed",
		"The engine ran out of memory, disk or time, or failed. Because that may depend on the data the message is always the same, the charge stays, the owner finds the cause in the ledger's history, and the domain is suspended until the owner acknowledges it.",
		""},
	{"D101", "a source cannot be opened",
		"A file of the catalog is missing, unreadable, or lacks a declared column. Run discreet check.",
		""},
	{"D102", "interrupted",
		"The command was told to stop. What had been reserved by then stays spent, whatever was computed: otherwise stopping at the right moment would make answers free.",
		""},
	{"D103", "the engine cannot plan this statement",
		"The SQL that the engine would have to run is nested too deep for it, or uses something that it lacks. It was planned over empty tables, so that no data was read and nothing was charged. Compute the answer in fewer or simpler steps.",
		""},
	{"D109", "the system failed",
		"A file could not be written, or something else that has nothing to do with the statement failed. The message says what.",
		""},
}
