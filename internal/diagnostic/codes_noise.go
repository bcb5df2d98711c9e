package diagnostic

// D140-D144: releases from a script.
var noiseEntries = []Entry{
	{"D140", "a release that nobody pays for",
		"There is no noise without a budget: every release is charged to a domain of a ledger before it is drawn. The owner makes the ledger with discreet ledger create. --domain names the domain that pays, --ledger the file.",
		"discreet noise laplace --sensitivity 1 --epsilon 0.5 --value 42"},
	{"D141", "a private value that cannot be read",
		"Values are finite decimals, one a line or separated by commas. All are read before anything is charged. The message says where the value stands, and does not repeat it: it is private, and errors end up in logs.",
		"discreet noise laplace --domain patient --sensitivity 1 --epsilon 0.5 --value forty-two"},
	{"D142", "parameters that no guarantee covers",
		"The theorem of each mechanism has conditions: a sensitivity above zero, an epsilon for which noise exists, a list of candidates that is not empty. Outside of them nothing is promised, so nothing is released and nothing is charged.",
		"discreet noise geometric --domain patient --sensitivity 1e300 --epsilon 1e-300 --value 42"},
	{"D143", "a cost that the mechanism does not have",
		"Laplace noise and choices cost an epsilon, or a rho that is converted to one. Gaussian noise costs a rho, or an epsilon with a delta: it has no guarantee with epsilon alone.",
		"discreet noise gaussian --domain patient --sensitivity 1 --epsilon 0.5 --value 42"},
	{"D144", "a query of a stream that cannot be read",
		"Queries are charged together at the start and answered as they come. A query that is not a number is not answered and ends the run; the charge and the answers before it stay. The message does not repeat the query, because it is private.",
		"discreet noise above-threshold --domain patient --threshold 10 --sensitivity 1 --rho 0.001 -f discreet.toml"},
}
