package diagnostic

// D070-D079: cost, budget and ledger.
var budgetEntries = []Entry{}
