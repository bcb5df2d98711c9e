//go:build cgo

package duckdb_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
)

// TestGroupsAreGathered: what does not depend on the salt is computed once for all who ask the
// same, and anew when the file has changed; the salt decides each time.
func TestGroupsAreGathered(t *testing.T) {
	const room = 1 << 20
	dir := t.TempDir()
	lay(t, dir, map[string]string{"t.parquet": "SELECT i AS u FROM range(1000) AS t(i)"})
	e := open(t, severalOf(t, dir, "t.parquet", `u = { type = "bigint" }`), duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true}, restless), room))
	without := open(t, severalOf(t, dir, "t.parquet", `u = { type = "bigint" }`), duckdb.Options{Threads: 1, Lazy: true})
	time.Sleep(2 * restless)
	whole := engine.Query{SQL: "SELECT count(*) AS x0, sum(u) AS x1 FROM t WHERE $slices > $slice", Tables: []string{"t"}, Values: 2}
	for i := range int64(5) {
		if rows, chosen := counted(t, e, i); rows != 1000 {
			t.Errorf("%d rows", rows)
		} else if _, want := counted(t, without, i); chosen != want {
			t.Errorf("salt %d chooses %d rows, without groups %d", i, chosen, want)
		}
		if rows, sum := row(t, e, whole); rows != 1000 || sum != 499500 {
			t.Errorf("%d rows of sum %d", rows, sum)
		}
		want, left := 2, int64(room-1000*17-1*2*17)
		if i == 0 {
			want, left = 0, room
		}
		if plans, have := duckdb.Gathered(e); plans != want || have != left {
			t.Errorf("after %d, %d plans have groups, and there is room for %d bytes; want %d, %d", i+1, plans, have, want, left)
		}
	}
	lay(t, dir, map[string]string{"t.parquet": "SELECT 2 * i AS u FROM range(1000) AS t(i)"})
	time.Sleep(2 * restless)
	for range 3 {
		if rows, _ := counted(t, e, 1); rows != 750 {
			t.Errorf("%d rows of 750 that the file has now", rows)
		}
		if rows, sum := row(t, e, whole); rows != 1000 || sum != 999000 {
			t.Errorf("%d rows of sum %d", rows, sum)
		}
	}
	if plans, left := duckdb.Gathered(e); plans != 2 || left != room-750*17-1*2*17 {
		t.Errorf("%d plans have groups, and there is room for %d bytes", plans, left)
	}
}

// What is not kept has no groups, nor what is too large, nor what the salt is in.
func TestGroupsThatAreNotGathered(t *testing.T) {
	const held = 1000*(17+4) + 1 // the file, and groups of as much
	salted, twice, long := halves(1), halves(1), halves(1)
	salted.Groups = "SELECT u FROM t WHERE u < $salt"
	salted.SQL = "SELECT count(*) AS x0, sum(u) AS x1 FROM (" + salted.Groups + ") AS t"
	twice.SQL = "SELECT count(*) AS x0, CAST($salt AS BIGINT) AS x1 FROM (" + twice.Groups + ") AS a JOIN (" + twice.Groups + ") AS b USING (u)"
	long.Groups = "SELECT repeat('x', 1 + CAST(u AS INTEGER)) AS u FROM t WHERE u < 1500"
	long.SQL = "SELECT count(*) AS x0, sum(strlen(u)) + CAST($salt AS BIGINT) AS x1 FROM (" + long.Groups + ") AS t"
	for name, test := range map[string]struct {
		q      engine.Query
		source string
		held   int64
		plans  int
		a, b   int64 // b is any if negative
	}{
		"they fit":         {q: halves(1), source: "t.parquet", held: held, plans: 1, a: 1000, b: -1},
		"one row too many": {q: halves(1), source: "t.parquet", held: 1000*17 - 1, plans: 0, a: 1000, b: -1},
		"long texts":       {q: long, source: "t.parquet", held: 400_000, plans: 0, a: 1000, b: 500_501},
		"a salt within":    {q: salted, source: "t.parquet", held: held, plans: 0, a: 1, b: 0},
		"twice":            {q: twice, source: "t.parquet", held: held, plans: 0, a: 1000, b: 1},
		"not held":         {q: halves(1), source: "t.parquet", held: 0, plans: 0, a: 1000, b: -1},
		"a pattern":        {q: halves(1), source: "*.parquet", held: held, plans: 0, a: 1000, b: -1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, map[string]string{"t.parquet": "SELECT i AS u FROM range(1000) AS t(i)"})
			e := open(t, severalOf(t, dir, test.source, `u = { type = "bigint" }`), duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1, Lazy: true}, restless), test.held))
			time.Sleep(2 * restless)
			for range 4 {
				if a, b := row(t, e, test.q); a != test.a || test.b >= 0 && b != test.b {
					t.Errorf("%d, %d", a, b)
				}
			}
			plans, room := duckdb.Gathered(e)
			if plans != test.plans || test.plans == 0 && room != test.held {
				t.Errorf("%d plans have groups, there is room for %d bytes of %d", plans, room, test.held)
			}
		})
	}
}

// A file that has changed since a view was made of it: no groups of the view's are kept as groups
// of the file.
func TestGroupsOfAnotherFile(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"t.parquet": "SELECT i AS u FROM range(1000) AS t(i)"})
	e := open(t, severalOf(t, dir, "t.parquet", `u = { type = "bigint" }`), duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1}, restless), 1<<20))
	time.Sleep(2 * restless)
	counted(t, e, 1)
	for _, want := range []bool{true, false} {
		if got, err := duckdb.Gather(t.Context(), e, halves(1)); err != nil || got != want {
			t.Errorf("groups are kept: %v (%v), want %v", got, err, want)
		}
		lay(t, dir, map[string]string{"t.parquet": "SELECT 2 * i AS u FROM range(1000) AS t(i)"})
		time.Sleep(2 * restless)
	}
	if _, room := duckdb.Gathered(e); room != 1<<20 {
		t.Errorf("there is room for %d bytes", room)
	}
}

// Many ask at once, each of a plan of its own.
func TestGroupsAtOnce(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"t.parquet": "SELECT i AS u FROM range(1000) AS t(i)"})
	const room = 1 << 20
	e := open(t, severalOf(t, dir, "t.parquet", `u = { type = "bigint" }`), duckdb.Held(duckdb.Restless(duckdb.Options{Threads: 1}, restless), room))
	time.Sleep(2 * restless)
	var all sync.WaitGroup
	for i := range int64(8) {
		all.Go(func() {
			for range 6 {
				q := halves(i)
				q.SQL += " WHERE " + strings.Repeat("true AND ", int(i%2)) + "true"
				if rows, _ := row(t, e, q); rows != 1000 {
					t.Errorf("%d rows", rows)
				}
			}
		})
	}
	all.Wait()
	if plans, left := duckdb.Gathered(e); left != room-int64(plans)*1000*17 {
		t.Errorf("%d plans have groups, there is room for %d bytes", plans, left)
	}
}
