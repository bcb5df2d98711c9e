package gateway

import (
	"errors"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// hints are the words of each door for what refusals tell to do in the command's. Who asks
// through a door has no shell there, and an analyst nothing that is the owner's.
var hints = map[diagnostic.Way]map[string]string{
	diagnostic.NameCost: {
		"postgres": "SET discreet.rho = '0.01', or discreet.epsilon, as the domain's measure allows; then EXPLAIN is free",
		"http":     `add "rho": 0.01 to the request, or "epsilon", as the domain's measure allows; then POST /v1/explain is free`,
		"mcp":      `give the argument "rho", such as 0.01, or "epsilon", as the domain's measure allows; then the tool explain is free`,
		"web":      "write an amount beside It may cost; explaining is free",
	},
	diagnostic.ExplainFree: {
		"postgres": "write EXPLAIN before one SELECT: it shows cost and expected error for free",
		"http":     "send the SELECT alone to POST /v1/explain: it shows cost and expected error for free",
		"mcp":      "give the SELECT alone to the tool explain: it shows cost and expected error for free",
		"web":      "write the SELECT alone: the page explains it for free",
	},
	diagnostic.ListTables: {
		"postgres": "SELECT * FROM discreet.tables shows what is declared; EXPLAIN SELECT ... what a question would cost",
		"http":     "GET /v1/tables shows what is declared; POST /v1/explain what a question would cost",
		"mcp":      "the tool list_tables shows what is declared; the tool explain what a question would cost",
		"web":      "the page Tables shows what is declared; Explain what a question would cost",
	},
	diagnostic.ListFunctions: everywhere("docs/refusals.md lists the functions, under D013; for anything else ask the owner to store the value as a column of its own"),
	diagnostic.ChangeSetting: {
		"postgres": "send it as a statement of its own: SET discreet.rho, discreet.confidence and others; everything else is declared in the catalog",
		"http":     `cost and confidence are members of the request, such as "rho"; everything else is declared in the catalog`,
		"mcp":      `cost and confidence are arguments of the tool, such as "rho"; everything else is declared in the catalog`,
		"web":      "cost and confidence are fields beside the statement; everything else is declared in the catalog",
	},
	diagnostic.StoreAnswer: {
		"postgres": "send COPY (SELECT ...) TO STDOUT, and let the client write the file",
		"http":     "send the SELECT alone, and write the response to a file",
		"mcp":      "give the SELECT alone to the tool query, which returns the answer",
		"web":      "write the SELECT alone: its answer can be downloaded",
	},
	diagnostic.AskSimpler:    everywhere("compute it in fewer or simpler steps"),
	diagnostic.Acknowledge:   everywhere("ask the owner, who looks at the failure and acknowledges it"),
	diagnostic.Confirm:       everywhere("ask the owner, who confirms what the catalog declares"),
	diagnostic.FindUnknown:   everywhere("write a number in the place of the question mark"),
	diagnostic.OtherRelation: everywhere("write a plan under add-remove: the server accounts for this relation alone"),
}

func everywhere(text string) map[string]string {
	return map[string]string{"postgres": text, "http": text, "mcp": text, "web": text}
}

// Hint words a refusal's hint for a door: by what it tells to do, or as it stands where its
// words hold everywhere.
func Hint(way, door, said string) string {
	if text, ok := hints[diagnostic.Way(way)][door]; ok {
		return text
	}
	return said
}

// worded words the hint of a refusal for the door through which was asked.
func worded(err error, door string) error {
	var r *discreet.Refusal
	if errors.As(err, &r) {
		r.Hint = Hint(r.Way, door, r.Hint)
	}
	return err
}
