package postgres_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/postgres"
)

// A catalog names tables of a database. What stands in the way of a connection is said in words
// of ours: neither the URL nor what the server says is quoted.
func ExampleOpen() {
	c, err := catalog.Parse("discreet.toml", `
[engine]
kind = "postgres"
url = { env = "DISCREET_ENGINE" }
[tables.wards]
source = "clinic.wards"
public = true
columns.name = { type = "text" }
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = postgres.Open(context.Background(), c, postgres.Options{URL: "postgres://discreet:secret@/clinic?host=/nowhere"})
	fmt.Println(err)
	// Output:
	// error[D101]: the database cannot be used
}
