//go:build unix

package render

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/sqltype"
)

// A unit keeps each of its rows in a group as often as any other, by the server's own hash of whole numbers and of others: of 2,000 units with
// the same four values in each of two groups, each value is kept by as many (within six standard deviations, 116; the salts are fixed), and by others in
// the other group, and under another salt. What breaks that is found.
func TestRowsOfUnitsAreInAnyOrder(t *testing.T) {
	t.Parallel()
	c := connect(t)
	const units, bits = 2_000, 11 // so many bits have the number of units
	ask(t, c, fmt.Sprintf("CREATE TABLE t AS SELECT u, 'g' || g AS a, 1::bigint << (%d * i) AS v, (1::bigint << (%[1]d * i))::numeric AS w FROM generate_series(1, %d) AS u, generate_series(0, 1) AS g, generate_series(0, 3) AS i; ALTER TABLE t ALTER u TYPE bigint", bits, units))
	bigint, decimal := sqltype.Of(sqltype.Bigint), sqltype.Type{Kind: sqltype.DecimalKind, Precision: 30}
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "u", Type: bigint}, {Name: "a", Type: sqltype.Of(sqltype.Text)}, {Name: "v", Type: bigint}, {Name: "w", Type: decimal}}}
	// wrong says what is wrong where the order of rows is edited.
	wrong := func(value int, edit func(hash string) string) string {
		for rows := int64(1); rows < 3; rows++ {
			q, err := Postgres.Release(&plan.Bounded{Input: &plan.Scan{Table: table}, Names: make([]string, 1), Keys: []plan.Expr{&plan.Ref{Index: 1, T: table.Columns[1].Type}},
				Listed: [][]string{{"g0", "g1"}}, Contributions: []plan.Contribution{{Kind: plan.Added, Value: &plan.Ref{Index: value, T: table.Columns[value].Type}}}, MaxGroups: 2, MaxRows: rows})
			if err != nil {
				t.Fatal(err)
			}
			before, hash, found := strings.Cut(q.SQL, " AS hk, ")
			hash, after, more := strings.Cut(hash, " AS hr")
			if !found || !more || strings.Contains(hash, " FROM ") {
				t.Fatalf("rows are in no order: %s", q.SQL)
			}
			seen := map[string]string{}
			for _, salt := range []string{"'42'", "'43'"} {
				for _, row := range ask(t, c, strings.ReplaceAll(before+" AS hk, "+edit(hash)+" AS hr"+after, "$1", salt)) {
					group, text, _ := strings.Cut(row, "|")
					kept, ok := new(big.Int).SetString(text, 10)
					if !ok {
						t.Fatal(row)
					}
					if other, twice := seen[text]; twice {
						return fmt.Sprintf("R %d: the same rows are kept in %s and in %s under %s", rows, other, group, salt)
					}
					seen[text] = fmt.Sprintf("%s under %s", group, salt)
					for i := range 4 {
						n := new(big.Int).And(new(big.Int).Rsh(kept, uint(bits*i)), big.NewInt(1<<bits-1)).Int64()
						if off := n - units*rows/4; off < -116 || off > 116 {
							return fmt.Sprintf("R %d: value %d is kept by %d units", rows, i, n)
						}
					}
				}
			}
		}
		return ""
	}
	const salt, unit = "CAST($1 AS BIGINT)", "hashint8extended(u, CAST($1 AS BIGINT))"
	replaced := func(from, to string) func(string) string {
		return func(hash string) string { return strings.ReplaceAll(hash, from, to) }
	}
	for value, faults := range map[int]map[string]func(string) string{
		2: {
			"by their values alone":         replaced(unit, salt),
			"by the unit and group alone":   replaced("coalesce(v0, 0)", "0"),
			"alike in all groups":           replaced("hashint8extended(k0 * 1, "+unit+") << 32 | k0 * 1", unit),
			"alike under all salts":         replaced(salt, "0"),
			"by one bit, and then by value": replaced("<< 32", "<< 63"),
			"as they lie":                   func(string) string { return "v0" },
		},
		3: {
			"by their values alone":       replaced("ROW(u, k0, v0)", "ROW(k0, v0)"),
			"by the unit and group alone": replaced("ROW(u, k0, v0)", "ROW(u, k0)"),
			"alike in all groups":         replaced("ROW(u, k0, v0)", "ROW(u, v0)"),
			"alike under all salts":       replaced(salt, "0"),
		},
	} {
		if why := wrong(value, func(hash string) string { return hash }); why != "" {
			t.Errorf("%s: %s", table.Columns[value].Name, why)
		}
		for fault, edit := range faults {
			planted := ""
			why := wrong(value, func(hash string) string {
				if planted = edit(hash); planted == hash {
					t.Fatalf("%s, %s: not planted in %s", table.Columns[value].Name, fault, hash)
				}
				return planted
			})
			if why == "" {
				t.Errorf("%s, rows are ordered %s: not found", table.Columns[value].Name, fault)
			} else {
				t.Logf("%s, rows are ordered %s: %s", table.Columns[value].Name, fault, why)
			}
		}
	}
}
