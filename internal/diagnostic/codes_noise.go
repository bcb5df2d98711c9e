package diagnostic

// D140-D144: releases from a script.
var noiseEntries = []Entry{
	{"D140", "a release that nobody pays for",
		"There is no noise without a budget: every release is charged to a domain of a ledger before it is drawn. The owner makes the ledger with discreet ledger create; --domain names who is protected, --ledger the file.",
		"discreet noise laplace --sensitivity 1 --epsilon 0.5 --value 42"},
	{"D141", "a private value that cannot be read",
		"Values are finite decimals, one a line or between commas, and all are read before anything is charged. The refusal says where the value stands and not what it is: it is private, and errors end in logs.",
		"discreet noise laplace --domain patient --sensitivity 1 --epsilon 0.5 --value forty-two"},
	{"D142", "parameters that no guarantee covers",
		"Each mechanism has a theorem, and the theorem its conditions: a sensitivity above zero, an epsilon that noise exists for, a list of candidates that is not empty. Outside of them nothing is promised, so nothing is released, and nothing is charged.",
		"discreet noise geometric --domain patient --sensitivity 1e300 --epsilon 1e-300 --value 42"},
	{"D143", "a cost that is not the mechanism's",
		"Laplace noise and choices cost an epsilon, or a rho that they are worth; Gaussian noise a rho, or an epsilon with a delta, because it has no epsilon alone.",
		"discreet noise gaussian --domain patient --sensitivity 1 --epsilon 0.5 --value 42"},
	{"D144", "a query of a stream that cannot be read",
		"Queries are charged together, at the start, and answered as they come. One that is no number is not answered, and ends the run: its charge and the answers before it stay. The refusal does not repeat it, because it is private.",
		"discreet noise above-threshold --domain patient --threshold 10 --sensitivity 1 --rho 0.001 -f discreet.toml"},
}
