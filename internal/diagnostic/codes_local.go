package diagnostic

// D190-D193: respondents who randomize their own answers.
var localEntries = []Entry{
	{"D190", "a protocol that there is not",
		"Protocols have the names of the literature. discreet help local lists them, by what they ask for: one of several values, a number, a vector.",
		"discreet local describe our --epsilon 1"},
	{"D191", "parameters that no randomizer has",
		"A randomizer exists for an epsilon that is neither so small that reports say nothing nor so large that they hide nothing, for two values or more, for a range whose lower end is below its upper one. Estimates are of one report or more.",
		"discreet local describe grr --epsilon 100 --categories 5"},
	{"D192", "a report that cannot be read",
		"A report is what discreet local report printed with the same protocol, epsilon and values. One that the protocol does not make was damaged, or made with other flags, or by somebody who does not follow the protocol; nothing is estimated from it.",
		"discreet local estimate grr --epsilon 1 --categories 5 -f discreet.toml"},
	{"D193", "a value that cannot be read",
		"Values are records of CSV or JSON lines with the column that --column names, or lines of one value. The refusal says where the value stands and not what it is: it is private, and errors end in logs.",
		"discreet local report duchi --epsilon 1 -f discreet.toml"},
}
