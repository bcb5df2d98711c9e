package clitest

// AuditDrawings are the drawings of docs/audit.md: what these audits draw with bits that are the same
// each time.
var AuditDrawings = map[string]string{
	"differencing.svg":   "difference",
	"averaging.svg":      "average --queries 10",
	"reconstruction.svg": "reconstruct",
}

// AnswerDrawings are the drawings of docs/tour.md: what query --plot draws of the answers
// that the page prints under these headings.
var AnswerDrawings = map[string]string{
	"schooling.svg": "### 3. What does schooling pay?",
	"weekdays.svg":  "### 14. How full is each day?",
}
