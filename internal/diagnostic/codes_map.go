package diagnostic

// D145-D149: untrusted code over private tables.
var mapEntries = []Entry{
	{"D145", "a module that cannot be run",
		"A mapper is a WebAssembly module with memory and exports in the form that docs/sandbox.md describes, and without imports of its own (those of a WASI program get constant answers). Before it sees a record, what it declares is compared with the limits. Nothing was charged.",
		"discreet map --module discreet.toml --table visits --columns cost --rho 0.01"},
	{"D146", "a table that cannot be mapped in this way",
		"The code sees the records of one private table of the catalog, in the columns that are named. It makes rows with a value and, if keys are declared, one of them. All of that is known before it runs.",
		"discreet map --module discreet.toml --table departments --columns name --rho 0.01"},
}
