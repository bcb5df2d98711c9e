package diagnostic

// D180-D189: ensembles that vote.
var pateEntries = []Entry{
	{"D180", "votes that cannot be read",
		"Votes are CSV without a header: a line a query, a column a class, whole numbers of teachers. Labels are CSV with the header row,label. A list of labels is no votes, and a label no row number: a well-known library takes one for the other and reports a fifth of the cost.",
		"discreet pate analyze --votes discreet.toml --aggregator lnmax --gamma 0.05 --delta 1e-5"},
	{"D181", "parameters of no aggregator",
		"LNMax has a gamma, GNMax a sigma, the confident one a threshold and its sigma beside it. Scales are above zero, orders above one (moments of LNMax above zero), delta lies between zero and one.",
		"discreet pate analyze --votes votes.csv --aggregator gnmax --sigma 0 --delta 1e-5"},
	{"D182", "a cost that cannot be published",
		"A cost that depends on the votes is private as they are. It leaves only with noise by its smooth sensitivity, for which a theorem must bound it: there is one for GNMax and the confident test, where conditions on sigma, the number of classes and the order hold, and where one unit changes one teacher. Nothing was charged.",
		"discreet pate analyze --votes votes.csv --aggregator lnmax --gamma 0.05 --delta 1e-5 --publish --domain patient"},
	{"D183", "teachers that cannot be trained",
		"Teachers vote for declared classes: the target is of a domain or boolean. Private and public images are files in the IDX format of one shape, and the teachers' network takes what an example has and gives a score for each class. What examples hold is no error: a teacher that cannot learn votes for class 0.",
		"discreet label --domain patient --images discreet.toml --labels discreet.toml --public discreet.toml --teachers 10 --aggregator gnmax --sigma 40"},
	{"D184", "an ensemble that cannot be asked",
		"The file of an ensemble holds the teachers, what their examples are, and the domain that pays for every label. What is damaged, or anything else, is not guessed at, and nothing is charged. The file is private as the records are that the teachers learned from.",
		"discreet label --ensemble discreet.toml --public discreet.toml --aggregator gnmax --sigma 40"},
}
