package diagnostic

// D190-D193: respondents who randomize their own answers.
var localEntries = []Entry{
	{"D190", "unknown protocol",
		"Protocols have the names of the literature. discreet help local lists them by what respondents report: one of several values, a number, a vector.",
		"discreet local describe our --epsilon 1"},
	{"D191", "parameters for which there is no randomizer",
		"A randomizer needs an epsilon that is neither so small that reports say nothing nor so large that they hide nothing, at least two values, and a range whose lower end is below its upper one. An estimate needs at least one report.",
		"discreet local describe grr --epsilon 100 --categories 5"},
	{"D192", "a report that cannot be read",
		"A report is a line that discreet local report printed with the same protocol, epsilon and values. Another line was damaged, or made with other flags, or by somebody who does not follow the protocol. Nothing is estimated from it.",
		"discreet local estimate grr --epsilon 1 --categories 5 -f discreet.toml"},
	{"D193", "a value that cannot be read",
		"Values are records of CSV or JSON lines with the column that --column names, or lines with one value each. The message says where the value stands, and does not repeat it: it is private, and errors end up in logs.",
		"discreet local report duchi --epsilon 1 -f discreet.toml"},
}
