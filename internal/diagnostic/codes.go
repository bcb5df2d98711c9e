package diagnostic

import "slices"

// An Entry explains one code of the catalogue.
type Entry struct {
	Code    string
	Title   string // the refusal in a few words
	Explain string // one paragraph: why it is refused and what to do
	Example string // the smallest statement or catalog that triggers it
}

// Entries returns the whole catalogue, ordered by code.
func Entries() []Entry {
	all := slices.Concat(textEntries, bindEntries, stabilityEntries, budgetEntries, catalogEntries, engineEntries, usageEntries, accountEntries, auditEntries, noiseEntries, localEntries, mapEntries, verifyEntries, learnEntries, pateEntries, serveEntries, collectEntries, multipartyEntries)
	slices.SortFunc(all, func(a, b Entry) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}

// Explain returns the catalogue's entry for a code.
func Explain(code string) (Entry, bool) {
	for _, e := range Entries() {
		if e.Code == code {
			return e, true
		}
	}
	return Entry{}, false
}
