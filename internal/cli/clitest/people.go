// Package clitest has what tests of several commands read.
package clitest

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
)

// PeopleCSV is a table of n people who were drawn: their age, hours, job, whether they are
// members, and an income that depends on all of it. Two rows have one id.
func PeopleCSV(n int, draw int64) string {
	r := rand.New(rand.NewSource(draw))
	var b strings.Builder
	b.WriteString("id,age,hours,job,member,pay,income,note\n")
	for i := range n {
		age, hours, job, member := 18+r.Intn(70), r.Intn(80), r.Intn(3), r.Intn(2) == 1
		score := 0.06*float64(age-50) + 0.08*float64(hours-40) + float64(job-1)
		if member {
			score++
		}
		income := "low"
		if score+r.NormFloat64() > 0 {
			income = "high"
		}
		fmt.Fprintf(&b, "%d,%d,%d,%s,%v,%.2f,%s,n%d\n", i/2, age, hours, []string{"clerk", "nurse", "judge"}[job], member, math.Max(0, 50+15*score), income, i)
	}
	return b.String()
}

// PeopleCatalog declares the table as people.csv.
const PeopleCatalog = `
[domains.person]
measure = "approx"
epsilon = 6
delta = 1e-5
[tables.people]
source = "people.csv"
domain = "person"
unit = "row"
[tables.people.columns]
age    = { type = "integer", lower = 18, upper = 90 }
hours  = { type = "integer", lower = 0, upper = 80 }
job    = { type = "text", domain = ["clerk", "judge", "nurse"] }
member = { type = "boolean" }
income = { type = "text", domain = ["high", "low"] }
note   = { type = "text" }
`
