package trino_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine/trino"
)

// A catalog names tables of a cluster. Its password goes over TLS alone, or to this machine.
func ExampleOpen() {
	c, err := catalog.Parse("discreet.toml", `
[engine]
kind = "trino"
url = { env = "DISCREET_ENGINE" }
[tables.wards]
source = "iceberg.clinic.wards"
public = true
columns.name = { type = "text" }
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = trino.Open(context.Background(), c, trino.Options{URL: "http://discreet:secret@trino.example:8080"})
	fmt.Println(err)
	// Output:
	// error[D101]: the database of $DISCREET_ENGINE cannot be used
}
