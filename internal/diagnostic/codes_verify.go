package diagnostic

// D150-D154: proofs about Go code.
var verifyEntries = []Entry{
	{"D150", "packages that cannot be read",
		"Claims are read from packages that compile, as the go command finds them: their types say what a directive speaks of. What does not compile is not verified in part.",
		"discreet verify ./nowhere"},
	{"D151", "nothing to verify",
		"No function of these packages has a claim, so that nothing was proved. A claim is made by directives in the comment of a function, such as //dp:cost eps; a run that finds none does not succeed, because a misspelt package would look like a proof.",
		"discreet verify sort"},
	{"D152", "stored proofs that cannot be read",
		"Proofs are stored in discreet.proofs.json beside the code. A file that is damaged, or was merged with conflicts, is left as it is: repair it, or delete it and let discreet verify find the proofs again.",
		"discreet verify"},
}
