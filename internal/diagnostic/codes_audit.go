package diagnostic

// D130-D139: audits.
var auditEntries = []Entry{
	{"D130", "a statement whose sensitivity cannot be measured",
		"The owner's statement is run by the engine, in its own SQL, once over all units and once without each of some. Its result must be one row of numbers each time, so that there is a distance between them; NULL counts as 0. A group is measured by itself, by a WHERE. What the engine says of it can quote data, and is for the owner alone.",
		"discreet audit sensitivity 'SELECT cost FROM visits'"},
	{"D131", "data that cannot be audited",
		"An audit of the owner's data needs a private table of the catalog, all of one domain, and a condition that the engine can decide for each of its rows. Once anything was read, who looked is in the ledger.",
		"discreet audit difference --table visitors --where 'age > 60'"},
	{"D132", "an attack that cannot be run",
		"An attack needs a unit and a query at least, and an epsilon that can be shared over all queries. Linear reconstruction solves for at most 4096 units, from at most 64 answers a unit, and keeps at most 2^26 bits of queries.",
		"discreet audit reconstruct --units 5000"},
}
