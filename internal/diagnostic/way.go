package diagnostic

// A Way is what a hint tells its reader to do in the command's words: "discreet explain
// shows the cost". Who shows refusals elsewhere (the server's doors) words it itself. The
// empty Way says that the hint's words hold everywhere.
type Way string

// The ways.
const (
	NameCost      Way = "name a cost"
	ExplainFree   Way = "explain"
	ListTables    Way = "list tables"
	ListFunctions Way = "list functions"
	ChangeSetting Way = "change a setting"
	StoreAnswer   Way = "store the answer"
	AskSimpler    Way = "ask simpler"
	Acknowledge   Way = "acknowledge a failure"
	Confirm       Way = "confirm the catalog"
	FindUnknown   Way = "find an unknown"
	OtherRelation Way = "account under another relation"
)

// Ways returns all of them.
func Ways() []Way {
	return []Way{NameCost, ExplainFree, ListTables, ListFunctions, ChangeSetting, StoreAnswer, AskSimpler, Acknowledge, Confirm, FindUnknown, OtherRelation}
}

// By says what the hint tells its reader to do, and returns d.
func (d *Diagnostic) By(w Way) *Diagnostic {
	d.Way = w
	return d
}
