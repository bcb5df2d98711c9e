package stability_test

import (
	"fmt"
	"testing"
)

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
