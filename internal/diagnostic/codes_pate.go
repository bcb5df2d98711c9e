package diagnostic

// D180-D189: ensembles that vote.
var pateEntries = []Entry{
	{"D180", "votes that cannot be read",
		"Votes are CSV without a header: one line for each query, one column for each class, whole numbers of teachers. Labels are CSV with the header row,label. A list of labels is not votes, and a label is not a row number: a well-known library confuses the two and reports a fifth of the cost.",
		"discreet pate analyze --votes discreet.toml --aggregator lnmax --gamma 0.05 --delta 1e-5"},
	{"D181", "parameters that no aggregator has",
		"LNMax needs a gamma, GNMax a sigma, and the confident aggregator also a threshold and the threshold's sigma. Scales are above zero, orders above one (moments of LNMax above zero), and delta is between zero and one.",
		"discreet pate analyze --votes votes.csv --aggregator gnmax --sigma 0 --delta 1e-5"},
	{"D182", "a cost that cannot be published",
		"A cost that depends on the votes is itself private. It can be published only with noise scaled to its smooth sensitivity, which a theorem must bound. There is one for GNMax and the confident test, under conditions on sigma, the number of classes and the order, if one unit changes one teacher. Nothing was charged.",
		"discreet pate analyze --votes votes.csv --aggregator lnmax --gamma 0.05 --delta 1e-5 --publish --domain patient"},
	{"D183", "teachers that cannot be trained",
		"Teachers vote for declared classes, so the target has a domain or is boolean. Private and public images are IDX files of one shape. The teachers' network takes the features of an example and gives a score for each class. The content of examples is never an error: a teacher that cannot learn votes for class 0.",
		"discreet label --domain patient --images discreet.toml --labels discreet.toml --public discreet.toml --teachers 10 --aggregator gnmax --sigma 40"},
	{"D184", "an ensemble that cannot be asked",
		"The file of an ensemble holds the teachers, the form of their examples, and the domain that pays for every label. A damaged file, or any other file, is refused, and nothing is charged. The file is as private as the records that the teachers learned from.",
		"discreet label --ensemble discreet.toml --public discreet.toml --aggregator gnmax --sigma 40"},
}
