package clitest

// AuditDrawings are the audits that draw the pictures of docs/audit.md, with bits that are
// the same each time.
var AuditDrawings = map[string]string{
	"differencing.svg":   "difference",
	"averaging.svg":      "average --queries 10",
	"reconstruction.svg": "reconstruct",
}

// AnswerDrawings are the pictures of docs/tour.md: query --plot draws the answers that the
// page prints under these headings.
var AnswerDrawings = map[string]string{
	"schooling.svg": "### 3. What does schooling pay?",
	"weekdays.svg":  "### 14. How full is each day?",
}
