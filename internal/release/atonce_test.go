package release

import (
	"math/big"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestPublishedAtOnce publishes one design by many goroutines, as a server does that keeps it: for
// the race detector. With a plain map under Release.bound it ends the process.
func TestPublishedAtOnce(t *testing.T) {
	d, err := NewDesign(counts("pure", privacy.AddRemove, false, 1, 1, 3), Options{Spend: Spend{Epsilon: eps(t, "1")}})
	if err != nil {
		t.Fatal(err)
	}
	bits := entropy.New()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				one := sqltype.Decimal{Unscaled: big.NewInt(7)}
				table, err := d.Releases[0].Publish(engine.NewExact([][]sqltype.Value{{one, one}}), nil, bits)
				if err != nil {
					t.Error(err)
					return
				}
				_, rows, err := table.Rows(big.NewRat(int64(80+(i+j)%20), 100), []int{1})
				if err != nil || len(rows) != 1 {
					t.Errorf("%d rows, %v", len(rows), err)
				}
			}
		})
	}
	all.Wait()
}
