package stability_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/catalog"
)

// Counts and sums to which no row adds twice are found, and no others.
func TestExclusiveComponents(t *testing.T) {
	t.Parallel()
	c, err := catalog.Parse("catalog.toml", narrowCatalog)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT count(*) FILTER (WHERE k = 'a'), count(*) FILTER (WHERE k = 'b'), count(*) FROM t":                                   "[[0 1]]",
		"SELECT n, countif(k = 'a'), countif(k IN ('b', 'c')), countif(k = 'c') FROM t GROUP BY n":                                   "[[0 1]]",
		"SELECT sum(CASE WHEN k = 'a' THEN 1 ELSE 0 END), sum(CASE WHEN k = 'b' THEN 1 ELSE 0 END), sum((k = 'c')::int) FROM t":      "[[0 1 2]]",
		"SELECT count(CASE WHEN k = 'a' THEN i END), count(CASE WHEN k = 'b' THEN 1 END) FROM t":                                     "[[0 1]]",
		"SELECT count(*) FILTER (WHERE i > 3), count(*) FILTER (WHERE i <= 3), count(*) FILTER (WHERE i = 3) FROM t":                 "[[0 1]]",
		"SELECT count(*) FILTER (WHERE w), count(*) FILTER (WHERE NOT w) FROM t":                                                     "[[0 1]]",
		"SELECT count(*) FILTER (WHERE f > c), count(*) FILTER (WHERE NOT (f > c)) FROM t":                                           "[[0 1]]",
		"SELECT count(*) FILTER (WHERE upper(k) = 'A'), count(*) FILTER (WHERE 'B' = upper(k) AND i > 3) FROM t":                     "[[0 1]]",
		"SELECT sum(CASE WHEN k = 'a' THEN i + 5 ELSE 0 END), sum(CASE WHEN k = 'b' THEN i + 5 END) FROM t":                          "[[0 1]]",
		"SELECT count(*) FILTER (WHERE y = DATE '2025-01-01'), count(*) FILTER (WHERE y > DATE '2025-01-01') FROM t":                 "[[0 1]]",
		"SELECT sum(CASE WHEN k = 'a' THEN i ELSE 0 END), sum(CASE WHEN k = 'b' THEN i ELSE 0 END) FROM t":                           "[]", // below 0, too
		"SELECT sum(CASE WHEN k = 'a' THEN i + 5 ELSE 1 END), sum(CASE WHEN k = 'b' THEN i + 5 ELSE 0 END) FROM t":                   "[]", // other rows add 1
		"SELECT count(CASE WHEN k = 'a' THEN 1 ELSE 0 END), count(CASE WHEN k = 'b' THEN 1 ELSE 0 END) FROM t":                       "[]", // and are counted
		"SELECT count((k = 'a')::int), count((k = 'b')::int) FROM t":                                                                 "[]", // likewise
		"SELECT sum(CASE WHEN k = 'a' THEN i + 5 ELSE 0 END), sum(CASE WHEN k = 'b' THEN 1 ELSE 0 END) FROM t":                       "[]", // of other sizes
		"SELECT count(*) FILTER (WHERE k = 'a'), count(*) FILTER (WHERE n = 3) FROM t":                                               "[]",
		"SELECT count(*) FILTER (WHERE k = 'a'), count(*) FILTER (WHERE k <> 'b') FROM t":                                            "[]",
		"SELECT count(*) FILTER (WHERE i > 3), count(*) FILTER (WHERE i < 5) FROM t":                                                 "[]",
		"SELECT count(*) FILTER (WHERE f > 3), count(*) FILTER (WHERE f < 2) FROM t":                                                 "[]", // of doubles nothing is believed
		"SELECT count(*) FILTER (WHERE g::double precision = 9007199254740992), count(*) FILTER (WHERE g = 9007199254740993) FROM t": "[]", // which a double is not
		"SELECT count(*) FILTER (WHERE k = 'a' OR i > 3), count(*) FILTER (WHERE k = 'b') FROM t":                                    "[]",
		"SELECT count(DISTINCT who) FILTER (WHERE k = 'a'), count(DISTINCT who) FILTER (WHERE k = 'b') FROM t":                       "[]", // units are in both
		"SELECT count(DISTINCT i) FILTER (WHERE k = 'a'), count(DISTINCT i) FILTER (WHERE k = 'b') FROM t":                           "[]",
		"SELECT median(i) FILTER (WHERE k = 'a'), median(i) FILTER (WHERE k = 'b') FROM t":                                           "[]",
		"SELECT count(*), count(i) FROM t": "[]",
	} {
		certificate, err := analyze(c, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := fmt.Sprint(certificate.Releases[0].Exclusive); got != want {
			t.Errorf("%s: %s are exclusive, not %s", sql, got, want)
		}
	}
}

// Conditions that are too many to be held against each other exclude nothing: a statement's text decides nothing about resources.
func TestExclusionIsBounded(t *testing.T) {
	t.Parallel()
	c, err := catalog.Parse("catalog.toml", narrowCatalog)
	if err != nil {
		t.Fatal(err)
	}
	for times, want := range map[int]string{100: "[[0 1]]", 400: "[]"} {
		both := strings.Repeat(" AND i > 3", times)
		certificate, err := analyze(c, "SELECT count(*) FILTER (WHERE k = 'a'"+both+"), count(*) FILTER (WHERE k = 'b'"+both+") FROM t")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(certificate.Releases[0].Exclusive); got != want {
			t.Errorf("of %d conditions %s are exclusive, not %s", times, got, want)
		}
	}
}

// Of two conditions that are said to exclude each other no value meets both.
func TestExclusiveConditions(t *testing.T) {
	t.Parallel()
	c, err := catalog.Parse("catalog.toml", narrowCatalog)
	if err != nil {
		t.Fatal(err)
	}
	apart := 0
	rapid.Check(t, func(t *rapid.T) {
		for range 5 {
			a, b := drawCondition(t, "i", 2), drawCondition(t, "i", 2)
			certificate, err := analyze(c, "SELECT count(*) FILTER (WHERE "+a.sql+"), sum(CASE WHEN "+b.sql+" THEN 1 ELSE 0 END) FROM t")
			if err != nil {
				t.Fatal(err)
			}
			if len(certificate.Releases[0].Exclusive) == 0 {
				continue
			}
			apart++
			for v := int64(-40); v <= 60; v++ {
				if a.holds(v) && b.holds(v) {
					t.Fatalf("%s and %s both hold of %d", a.sql, b.sql, v)
				}
			}
		}
	})
	if apart < 10 {
		t.Errorf("%d pairs exclude each other: the test is weak", apart)
	}
}
