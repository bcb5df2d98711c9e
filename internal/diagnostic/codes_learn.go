package diagnostic

// D160-D169: learning.
var learnEntries = []Entry{
	{"D160", "nothing of that name to learn from",
		"What a model learns from is a table of the catalog, and those of its columns that are declared. A column that is not declared does not exist.",
		"discreet train --table visit --target department --model logistic --target-epsilon 1"},
	{"D161", "examples that cannot be read",
		"A CSV file must have the columns that were named, an IDX file the form and shape that were declared, an encoding every column that it speaks of with a domain or bounds. What stands in a record is never an error, and no error says how many records there are.",
		"discreet train --csv discreet.toml --encoding discreet.toml --model linear --target-epsilon 1"},
	{"D162", "a column that nothing is declared of",
		"What becomes of a value must be known without looking at the data: texts need their domain, numbers and times their bounds. To take either from the data would show records, at no charge.",
		"discreet train --table visits --columns note --target department --model logistic --target-epsilon 1"},
	{"D163", "a model that cannot be trained so",
		"A logistic model and naive Bayes predict the classes of a domain, a linear model numbers within bounds, a tree and an mlp either, a cnn needs images; and each is trained by some methods. A network of your own is a JSON file whose layers fit together, and whose first one takes what an example has.",
		"discreet train --table visits --target cost --model logistic --target-epsilon 1"},
	{"D164", "a run that has no such guarantee",
		"The noise is chosen so that the whole run costs what was asked for, and all that it depends on is known before it begins. Gaussian noise has no pure epsilon, which trees, naive Bayes and linear models by objective or output perturbation have; a batch is part of the population, and what costs next to nothing is noise and nothing else.",
		"discreet train --table visits --target department --model logistic --target-epsilon 1 -n 100 --batch 200"},
	{"D165", "a model file that cannot be used",
		"A model's file says what it was trained on, how records become its numbers, and what its guarantee is. What is damaged, or made for other examples, is not guessed at.",
		"discreet predict --model-file discreet.toml --csv discreet.toml"},
	{"D166", "a private source given as a file",
		"The file is the source of a private table, by this name or another: of the catalog that the flags name, or of a discreet.toml beside the file. What is read of it costs what the table costs and stands in the same books. evaluate, predict and audit model read it as the table; elsewhere name the table, with --table.",
		"discreet train --csv visits.parquet --columns age=0..120 --target age --model linear --target-epsilon 1"},
}
