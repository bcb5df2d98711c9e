package clitest

// AuditDrawings are the drawings of docs/audit.md: what these audits draw with bits that are the same
// each time.
var AuditDrawings = map[string]string{
	"differencing.svg":   "difference",
	"averaging.svg":      "average --queries 10",
	"reconstruction.svg": "reconstruct",
}
