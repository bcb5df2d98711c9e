package diagnostic

// D160-D169: learning.
var learnEntries = []Entry{
	{"D160", "an unknown table or column to learn from",
		"A model learns from a table of the catalog and from its declared columns. A column that is not declared does not exist.",
		"discreet train --table visit --target department --model logistic --target-epsilon 1"},
	{"D161", "examples that cannot be read",
		"A CSV file must have the columns that were named, an IDX file the declared form and shape, and an encoding a domain or bounds for every column that it names. The content of a record is never an error, and no error says how many records there are.",
		"discreet train --csv discreet.toml --encoding discreet.toml --model linear --target-epsilon 1"},
	{"D162", "a column without a domain or bounds",
		"The numbers that a value becomes must be known without looking at the data. So a text column needs its domain, and a column of numbers or times its bounds. Taking either from the data would reveal records, at no charge.",
		"discreet train --table visits --columns note --target department --model logistic --target-epsilon 1"},
	{"D163", "a model that cannot be trained in this way",
		"A logistic model and naive Bayes predict the classes of a domain, a linear model a number within bounds, a tree and an mlp either; a cnn needs images. Each model has its own methods of training. A network of your own is a JSON file whose layers fit together, and whose first layer takes the features of an example.",
		"discreet train --table visits --target cost --model logistic --target-epsilon 1"},
	{"D164", "a run that cannot have this guarantee",
		"The noise is chosen so that the whole run costs what was asked for, from facts that are known before it begins. Gaussian noise has no pure epsilon; trees, naive Bayes, and linear models by objective or output perturbation have one. A batch cannot be larger than the population. A run that may cost next to nothing would learn nothing but noise.",
		"discreet train --table visits --target department --model logistic --target-epsilon 1 -n 100 --batch 200"},
	{"D165", "a model file that cannot be used",
		"The file of a model says what it was trained on, how records become numbers, and what its guarantee is. A file that is damaged, or made for other examples, is refused.",
		"discreet predict --model-file discreet.toml --csv discreet.toml"},
	{"D166", "a private source given as a file",
		"The file is the source of a private table, under this name or another, of the catalog that the flags name or of a discreet.toml beside the file. Reading it costs what the table costs and is recorded in the same ledger. evaluate, predict and audit model read the file as that table. For other commands, name the table with --table.",
		"discreet train --csv visits.parquet --columns age=0..120 --target age --model linear --target-epsilon 1"},
}
