package diagnostic

// D145-D149: untrusted code over private tables.
var mapEntries = []Entry{
	{"D145", "a module that cannot be run",
		"A mapper is a WebAssembly module without imports of its own (a WASI program's are answered with constants), with memory and exports in the form that docs/sandbox.md describes. What it declares is held against the limits before it sees a record; nothing was charged.",
		"discreet map --module discreet.toml --table visits --columns cost --rho 0.01"},
	{"D146", "a table that cannot be mapped so",
		"Code sees the records of one private table of the catalog, in columns that it names, and makes rows with a value and perhaps one of the keys that are declared. All of that is known before it runs.",
		"discreet map --module discreet.toml --table departments --columns name --rho 0.01"},
}
