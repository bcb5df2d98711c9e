//go:build cgo

package render_test

import (
	"database/sql"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/sqltype"
)

// Attack I7: a row's key depends on nobody else's row. A row that equals none of the
// others adds a key and changes none, whatever it is: also one that is made to have the
// hash of another's, which DuckDB's hash of two columns allows under every salt.
func TestI7RowKeys(t *testing.T) {
	db := openDuck(t)
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	y, x := int64(7), int64(8)
	y2, x2 := unhash(hashOf(t, db, y)^(1<<63|1<<31)), unhash(hashOf(t, db, x)^1<<63)
	for _, salt := range []int64{0, 1, 12345} { // that the rows collide is what makes the test one
		var same bool
		if err := db.QueryRow("SELECT hash(?::BIGINT, 0, ?::BIGINT, ?::BIGINT) = hash(?::BIGINT, 0, ?::BIGINT, ?::BIGINT)", salt, y, x, salt, y2, x2).Scan(&same); err != nil || !same {
			t.Fatalf("the rows do not collide under salt %d: %v", salt, err)
		}
	}
	bigint, text := sqltype.Of(sqltype.Bigint), sqltype.Of(sqltype.Text)
	table := &catalog.Table{Name: "t", Columns: []*catalog.Column{{Name: "a", Type: bigint}, {Name: "b", Type: bigint}, {Name: "c", Type: text}}}
	scan := &plan.Scan{Table: table}
	key := &plan.Call{Function: plan.RowKey, T: text, Args: []plan.Expr{&plan.Literal{Value: int64(0), T: bigint},
		&plan.Ref{Index: 2, T: text}, &plan.Ref{Index: 0, T: bigint}, &plan.Ref{Index: 1, T: bigint}}}
	query, err := render.Relation(&plan.Project{Input: scan, Names: []string{"row", "key"}, Exprs: []plan.Expr{
		&plan.Call{Function: plan.Concat, T: text, Args: []plan.Expr{&plan.Ref{Index: 2, T: text}, &plan.Cast{Arg: &plan.Ref{Index: 0, T: bigint}, T: text}}}, key}})
	if err != nil {
		t.Fatal(err)
	}
	keys := func(rows []string) []string {
		exec("CREATE OR REPLACE TABLE t (a BIGINT, b BIGINT, c VARCHAR)")
		exec("INSERT INTO t VALUES " + strings.Join(rows, ", "))
		found, err := db.Query(strings.ReplaceAll(query, "$salt", "5"))
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		var all []string
		for found.Next() {
			var row sql.NullString
			var key any
			if err := found.Scan(&row, &key); err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(key))
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		if distinct := len(slices.Compact(slices.Clone(all))); distinct != len(rows) {
			t.Errorf("%d rows have %d keys", len(rows), distinct)
		}
		return all
	}
	base := []string{fmt.Sprintf("(%d, %d, '')", y, x), "(1, 2, NULL)", "(1, 2, '')", "(NULL, 2, '-')", "(1, 2, 'x')", "(1, 2, 'x')", "(12, 3, '1:')", "(1, 23, '1:')"}
	want := keys(base)
	for _, hostile := range []string{fmt.Sprintf("(%d, %d, '')", y2, x2), "(2, 1, NULL)", "(1, NULL, '-2')", "(1, 2, '1:')", "(123, NULL, '1:')", "(1, 2, 'x')", "(1, 2, 'x1')", "(0, 0, '0')"} {
		for at := range len(base) + 1 {
			got := keys(slices.Insert(slices.Clone(base), at, hostile))
			more := slices.DeleteFunc(slices.Clone(got), func(k string) bool { return slices.Contains(want, k) })
			if len(more) != 1 || len(got) != len(want)+1 {
				t.Errorf("%s before row %d changes the keys of %d others", hostile, at, len(more)-1)
			}
		}
	}
	// Which row has which key: the one that was collided with keeps its own.
	for _, rows := range [][]string{{base[0]}, {base[0], fmt.Sprintf("(%d, %d, '')", y2, x2)}, {fmt.Sprintf("(%d, %d, '')", y2, x2), base[0]}} {
		keys(rows)
		var mine any
		if err := db.QueryRow(fmt.Sprintf("SELECT c1 FROM (%s) AS t WHERE c0 = '%d'", strings.ReplaceAll(query, "$salt", "5"), y)).Scan(&mine); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(want, fmt.Sprint(mine)) {
			t.Errorf("of %v the row %s has a key that it did not have alone", rows, base[0])
		}
	}
}

func hashOf(t *testing.T, db *sql.DB, v int64) uint64 {
	t.Helper()
	var h uint64
	if err := db.QueryRow("SELECT hash(?::BIGINT)", v).Scan(&h); err != nil {
		t.Fatal(err)
	}
	if got := hash(uint64(v)); got != h {
		t.Fatalf("DuckDB's hash of %d is %x, not %x: the attack is to be made anew", v, h, got)
	}
	return h
}

const murmur = 0xd6e8feb86659fd93

// hash is DuckDB's of a BIGINT.
func hash(x uint64) uint64 {
	for range 2 {
		x ^= x >> 32
		x *= murmur
	}
	return x ^ x>>32
}

// unhash is its inverse.
func unhash(h uint64) int64 {
	modulus := new(big.Int).Lsh(big.NewInt(1), 64)
	inverse := new(big.Int).ModInverse(new(big.Int).SetUint64(murmur), modulus).Uint64()
	h ^= h >> 32
	for range 2 {
		h *= inverse
		h ^= h >> 32
	}
	return int64(h)
}
