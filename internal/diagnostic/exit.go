package diagnostic

// An Exit is the code with which a command ends.
type Exit = int

// The exit codes. A refusal of the ledger is ExitBudget only where the budget does not
// suffice; a missing, edited, restored or suspended ledger refuses like a catalog does.
const (
	ExitAnswered Exit = 0
	ExitRefused  Exit = 1 // the statement, the catalog or the ledger
	ExitUsage    Exit = 2 // the command line
	ExitBudget   Exit = 3 // asked for more than is left
	ExitEngine   Exit = 4 // the engine or the system failed, or the command was interrupted
)

// exits are the exit codes of what does not merely refuse a statement, a catalog or a
// ledger.
var exits = map[string]Exit{
	"D070": ExitUsage, "D071": ExitUsage, "D073": ExitUsage, "D075": ExitUsage, // how the cost was asked for
	"D260": ExitUsage,
	"D076": ExitBudget, "D262": ExitBudget,
	"D100": ExitEngine, "D101": ExitEngine, "D102": ExitEngine, "D103": ExitEngine, "D107": ExitEngine,
	"D109": ExitEngine,
	"D110": ExitUsage, "D111": ExitUsage, "D112": ExitUsage, "D113": ExitUsage, "D114": ExitUsage,
	"D115": ExitUsage, "D116": ExitUsage, "D118": ExitUsage, "D119": ExitUsage,
	"D117": ExitEngine,                   // this build has no engine
	"D140": ExitUsage,                    // nobody is charged
	"D143": ExitUsage,                    // how the cost was asked for
	"D181": ExitUsage,                    // parameters out of their range
	"D216": ExitUsage, "D218": ExitUsage, // how to listen
	"D217": ExitEngine, "D220": ExitEngine,
	"D242": ExitUsage, // which federation
	"D243": ExitEngine,
}

// ExitOf returns the exit code of a diagnostic's code.
func ExitOf(code string) Exit {
	if e, ok := exits[code]; ok {
		return e
	}
	return ExitRefused
}
