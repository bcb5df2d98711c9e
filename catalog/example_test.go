package catalog_test

import (
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/catalog"
)

// A catalog says whose rows a table holds, how much one unit may add to an answer,
// and what may be learnt of all units together.
func ExampleParse() {
	c, err := catalog.Parse("discreet.toml", `
[domains.patient]
neighbours = "add-remove"
measure    = "pure"
epsilon    = 1.0

[tables.visits]
source = "visits.csv"
domain = "patient"
unit   = "patient_id"
max_groups_per_unit = 2
max_rows_per_group  = 3

[tables.visits.columns]
patient_id = { type = "bigint" }
ward       = { type = "text", domain = ["ER", "ICU"] }
age        = { type = "integer", lower = 0, upper = 120 }
`)
	if err != nil {
		log.Fatal(err)
	}
	patient, _ := c.Domain("patient")
	fmt.Println(patient.Measure, patient.Neighbours, patient.Epsilon)
	visits, _ := c.Table("visits")
	fmt.Println("groups", visits.MaxGroups, "rows", visits.MaxRows)
	for _, column := range visits.Columns {
		fmt.Println(column.Name, column.Type)
	}

	_, err = catalog.Parse("discreet.toml", "[tables.visits]\nsource = \"visits.csv\"\n")
	fmt.Println(err)
	// Output:
	// pure add-remove 1
	// groups 2 rows 3
	// patient_id bigint
	// ward text
	// age integer
	// discreet.toml:1:1: error[D083]: "visits" has no "domain" (and 2 more)
}
