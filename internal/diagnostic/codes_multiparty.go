package diagnostic

// D240-D247: data holders who answer together, the parties who add noise, and people who contribute to
// aggregators.
var multipartyEntries = []Entry{
	{"D240", "a statement that no federation answers",
		"What holders share is added up, so that a statement of a federation releases counts, sums, averages and variances, over groups that are the same at every holder: the combinations of public domains. Distinct values, groups that are chosen privately, and joins of rows that lie at different holders are no sums. Nothing was charged.",
		""},
	{"D241", "holders that do not declare the same",
		"Values can be added up if they count the same in the same unit: columns of one type with the same bounds where averages are taken, the same public domains, the same neighbouring relation. How many rows and groups of a unit count may differ: the noise hides the largest.",
		""},
	{"D242", "a federation that cannot be read",
		"The file is TOML: [[holder]] and [[party]] with name, address and key, [[asker]] with name and key. A key is what discreet multiparty key prints: the digest of a public key, by which members know one another. There are two parties or more.",
		"discreet query --federation missing.toml 'SELECT count(*) FROM visits'"},
	{"D243", "a member of a federation that does not answer",
		"The asker has tried for as long as it may. A holder that was charged stays charged. The members' logs say what happened; discreet query asks anew, at a new charge.",
		""},
	{"D244", "a task that a member refuses",
		"A task binds statement, cost, holders, parties and their keys by one digest. A member refuses what does not fit its own file, its own offer or what it has stored: a task that was charged and lost, one that is over its time, a party that was restored from a copy.",
		""},
	{"D245", "a holder's owner must approve this statement first",
		"It is over the limit of the account at that holder. Its owner sees it with discreet approval list, and grants or denies it. Ask again then. Holders that have answered in the meantime were charged for nothing, since no total exists: it is worth asking owners first.",
		""},
	{"D246", "a contribution that is none",
		"A contribution is whole numbers from 0 on, of the kind that the aggregators add up: one number, a place, or a number for each place. What cannot be one is found before anything is sent. A refusal names the line and nothing that stands in it.",
		""},
	{"D247", "aggregators that refuse",
		"The names are those of the protocol: a batch with too few contributions (invalidBatchSize), one that another collection has (batchOverlap), aggregators that have different contributions (batchMismatch), one that was restored from an older copy of its state (aggregatorRestored), a member that asks for what is another's. Nothing was charged for what is refused.",
		""},
}
