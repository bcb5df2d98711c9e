package diagnostic

// D210-D219: the server's interfaces for programs.
var serveEntries = []Entry{
	{"D210", "the request cannot be read",
		"A request to the server is one JSON object with the members that the interface has, each at most once, and nothing after it; /openapi.json describes it. What is not understood is refused instead of ignored: a misspelt member could have been the amount to spend. Nothing was asked and nothing was charged.",
		""},
	{"D211", "nobody has signed in",
		"Every request carries the token of an account, as \"Authorization: Bearer TOKEN\". The owner makes one with discreet user add NAME --token, which shows it once. An unknown token, one that has expired, and the token of an account that is disabled are not told apart.",
		""},
	{"D212", "the account may not do this",
		"It is for owners.",
		""},
	{"D213", "the server has too much to do",
		"As many requests wait as may, or too many came from this account or address. Nothing was charged; try again in a moment.",
		""},
	{"D214", "an owner must approve this statement first",
		"It is over a limit of the account. Its request waits for an owner, who sees what it asks and costs: discreet approval list. When it is granted, send the same statement with the same options again; it then runs once. Nothing was charged yet.",
		""},
	{"D215", "the server is not asked under this name",
		"The Host of a request, and its Origin if it has one, must be a name of the server: its address, localhost, or a name that its operator has configured. Otherwise a page that somebody else serves could make a browser ask on behalf of its user.",
		""},
}
