package diagnostic

// D130-D139: audits.
var auditEntries = []Entry{
	{"D130", "a statement whose sensitivity cannot be measured",
		"The engine runs the owner's statement in its own SQL, once over all units and once without each of some. The result must be one row of numbers each time, so that they have a distance; NULL counts as 0. Measure a group by itself, with a WHERE. The engine's messages can quote data and are for the owner alone.",
		"discreet audit sensitivity 'SELECT cost FROM visits'"},
	{"D131", "data that cannot be audited",
		"An audit of the owner's data needs private tables of the catalog that are all of one domain, and a condition that the engine can decide for each row. Once anything was read, the ledger records who looked.",
		"discreet audit difference --table visitors --where 'age > 60'"},
	{"D132", "an attack that cannot be run",
		"An attack needs at least one unit and one query, and an epsilon that can be split over all queries. Linear reconstruction solves for at most 4096 units, from at most 64 answers a unit, and keeps at most 2^26 bits of queries.",
		"discreet audit reconstruct --units 5000"},
}
