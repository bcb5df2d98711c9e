package diagnostic

// D100-D109: the engine and its resources.
var engineEntries = []Entry{
	{"D100", "the answer could not be computed",
		"The engine ran out of memory, disk or time, or failed. Because that may depend on the data the message is always the same, the charge stays, the owner finds the cause in the ledger's history, and the domain is suspended until the owner acknowledges it.",
		""},
	{"D101", "a source cannot be opened",
		"A file of the catalog is missing, unreadable, or lacks a declared column. Run discreet check.",
		""},
}
