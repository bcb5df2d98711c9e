package diagnostic

// D145-D149: untrusted code over private tables.
var mapEntries = []Entry{
	{"D145", "a module that cannot be run",
		"A mapper is a WebAssembly module with memory and exports in the form that docs/sandbox.md describes, and without imports of its own (those of a WASI program get constant answers). Before it sees a record, what it declares is compared with the limits. Nothing was charged.",
		"discreet map --module discreet.toml --table visits --columns cost --rho 0.01"},
	{"D146", "a table that cannot be mapped in this way",
		"The code sees the records of one private table of the catalog, in the columns that are named. It makes rows with a value and, if keys are declared, one of them. All of that is known before it runs.",
		"discreet map --module discreet.toml --table departments --columns name --rho 0.01"},
	{"D147", "a worker that cannot be used",
		"discreet map --worker has the module's calls made on other machines, by discreet worker. Both sides have keys of their own and know each other's. Each worker is sent the module before anything is charged; one that is lost afterwards is done without. Nothing was charged.",
		"discreet worker --identity nobody.pem --caller 0000000000000000000000000000000000000000000000000000000000000000"},
	{"D148", "a column that no module sees",
		"With mapped = false the owner shows a column to no module, whatever statements may say of it. That holds for what reads the same field of the source under another name or in another table, and for derived columns of its table, unless the owner declares mapped = true there. The module is handed the columns that are named, and nothing else of a record.",
		"discreet map --module discreet.toml --table visits --columns age,cost --rho 0.01"},
}
