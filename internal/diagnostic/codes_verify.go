package diagnostic

// D150-D154: proofs about Go code.
var verifyEntries = []Entry{
	{"D150", "packages that cannot be read",
		"Claims are read from packages that compile, as the go command finds them, because the types say what a directive refers to. A package that does not compile is not verified in part.",
		"discreet verify ./nowhere"},
	{"D151", "nothing to verify",
		"No function of these packages has a claim, so nothing was proved. Directives in the comment of a function make a claim, such as //dp:cost eps. A run that finds none fails, because a misspelt package would look like a proof.",
		"discreet verify sort"},
	{"D152", "stored proofs that cannot be read",
		"Proofs are stored in discreet.proofs.json beside the code. A file that is damaged, or was merged with conflicts, is left as it is. Repair it, or delete it: discreet verify then finds the proofs again.",
		"discreet verify"},
}
