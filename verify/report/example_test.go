package report_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/discreet-dp/discreet/verify"
	"github.com/discreet-dp/discreet/verify/report"
)

// Verdicts become a page, or a file for tools of code review.
func Example() {
	found := &verify.Report{Results: []verify.Result{{
		Package: "example.org/p", Function: "Count", Claim: "adjacent |x| <= 1\ncost eps",
		Verdict: verify.Proved, Over: verify.Integers, LeastCost: "eps", File: "/src/p/count.go", Line: 7, Column: 1,
	}}}
	fmt.Println(report.Claim(&found.Results[0]))
	fmt.Println(report.Message(&found.Results[0]))
	var page bytes.Buffer
	if err := report.HTML(&page, found, "/src", os.ReadFile); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.HasPrefix(page.Bytes(), []byte("<!DOCTYPE html>")))
	// Output:
	// cost eps
	// Count claims cost eps: proved
	// true
}
