package stability_test

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
)

// Bounds that were found clamp values and leave out no bucket: rows beyond them are in groups.
func TestFoundBoundsEmptyNoBucket(t *testing.T) {
	c, err := catalog.Parse("catalog.toml", narrowCatalog+`columns.x = { type = "integer", lower = 0, upper = 120, bounds = "auto" }
`)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := sqlparse.Parse("SELECT width_bucket(x, ARRAY[18, 65]), count(*) FROM t GROUP BY 1")
	if err != nil {
		t.Fatal(err)
	}
	bound, err := bind.Statement(tree, c, bind.Parameters{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := c.Tables[0].Columns
	found := &stability.Found{Bounds: map[*catalog.Column]stability.Bounds{of[len(of)-1]: {Lower: int64(20), Upper: int64(40)}}}
	certificate, _, err := stability.AnalyzeWith(bound, stability.Options{Found: found})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(certificate.Releases[0].Keys[0].Domain); n != 3 {
		t.Errorf("there are %d buckets, not 3", n)
	}
}

// Buckets that no value within the declared bounds can be in are no keys; those that one value is in are.
func TestEmptyBuckets(t *testing.T) {
	c := load(t)
	for array, want := range map[string]string{ // age is from 0 to 120
		"0, 18, 65": "1 2 3", "1, 18": "0 1 2", "-5, 0, 18": "2 3", "18, 120": "0 1 2", "18, 120, 121": "0 1 2", "18, 121, 130": "0 1", "-1, 200": "1",
	} {
		cert, err := analyze(c, "SELECT width_bucket(age, ARRAY["+array+"]), count(*) FROM visits GROUP BY 1")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range cert.Releases[0].Keys[0].Domain {
			for _, v := range d.Values {
				got += fmt.Sprint(" ", v)
			}
		}
		if got != " "+want {
			t.Errorf("%s: the keys are%s, want %s", array, got, want)
		}
	}
}
