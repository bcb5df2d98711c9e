package calls

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/sqltype"
)

// Of whatever comes, little is held; a unit's records are one call, of which no more is kept than
// shows that they are too many; and a record is lost in no other way.
func TestGatherer(t *testing.T) {
	large := strings.Repeat("x", 1000)
	for _, byUnit := range []bool{true, false} {
		var got []string
		most, seen := 0, 0
		g := New(engine.Seen{Columns: []string{"v"}, ByUnit: byUnit, Room: 100 * 1016}, func(batch []engine.Call) error {
			records, bytes := 0, 0
			for _, c := range batch {
				got = append(got, fmt.Sprintf("%s:%d", sqltype.Format(c.Unit), len(c.Records)))
				records += len(c.Records)
				for _, r := range c.Records {
					bytes += len(r[0].(string))
				}
			}
			seen += records
			most = max(most, bytes)
			return nil
		})
		for unit, n := range []int{1, 100, 101, 5000, 1, 900, 30, 30} {
			for range n {
				if err := g.Add([]sqltype.Value{large, int64(unit)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := g.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := g.Flush(); err != nil {
			t.Fatal(err)
		}
		if want := "[0:1 1:100 2:101 3:101 4:1 5:101 6:30 7:30]"; byUnit && fmt.Sprint(got) != want {
			t.Errorf("calls %v, want %v", got, want)
		}
		if !byUnit && (seen != 6163 || len(got) != seen) {
			t.Errorf("%d records in %d calls", seen, len(got))
		}
		if most > batchBytes+101_000 {
			t.Errorf("%d bytes at a time", most)
		}
	}
	broken := fmt.Errorf("no")
	g := New(engine.Seen{Columns: []string{"v"}}, func([]engine.Call) error { return broken })
	var err error
	for n := 0; err == nil && n <= batchRecords; n++ {
		err = g.Add([]sqltype.Value{int64(n)})
	}
	if err != broken {
		t.Errorf("a failure to hand on: %v", err)
	}
}
