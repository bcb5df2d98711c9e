package prio_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

func epsilon(t testing.TB, text string) privacy.Epsilon {
	t.Helper()
	e, err := privacy.ParseEpsilon(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func laplace(t testing.TB, text string) mechanism.Additive {
	t.Helper()
	law, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(2, 1), Epsilon: epsilon(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	return law
}

var histogram = prio.Circuit{Kind: prio.Histogram, Length: 3, Chunk: 2}

func buckets(t testing.TB, path, budget string) *prio.Buckets {
	t.Helper()
	b, err := prio.OpenBuckets(t.Context(), path, histogram, filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, budget), Neighbours: privacy.ReplaceOne})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// votes are contributions that both aggregators have found valid.
func votes(t testing.TB, places ...uint64) (all [2][]prio.Prepared) {
	t.Helper()
	p := instance(t, histogram, 2, "task")
	for _, place := range places {
		c, err := p.Shard([]uint64{place})
		if err != nil {
			t.Fatal(err)
		}
		shares, err := prepare(p, key, c)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			all[i] = append(all[i], prio.Prepared{Nonce: c.Nonce, Share: shares[i]})
		}
	}
	return all
}

func expect(t testing.TB, what string, err error, want string) {
	t.Helper()
	var r prio.Refusal
	if !errors.As(err, &r) || string(r) != want {
		t.Errorf("%s: %v, want %s", what, err, want)
	}
}

func total(t testing.TB, all ...*prio.Collected) []*big.Int {
	t.Helper()
	f := histogram.Field()
	var shares []prio.Vector
	for _, c := range all {
		v, err := f.Read(c.Share, 3)
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, v)
	}
	out, err := f.Unshard(shares)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Replays, in the same job, another job, after a restart and after collection; batches that are
// small, or collected twice; jobs that come again with other contributions.
func TestBuckets(t *testing.T) {
	dir := t.TempDir()
	open := func() (out [2]*prio.Buckets) {
		for i := range out {
			out[i] = buckets(t, filepath.Join(dir, fmt.Sprint(i)), "1000")
		}
		return out
	}
	both, law := open(), laplace(t, "400") // noise with probability below e^-198
	v := votes(t, 0, 2, 2)
	commit := func(job, batch string, all [2][]prio.Prepared, want ...string) {
		t.Helper()
		for i := range both {
			got, err := both[i].Commit(t.Context(), job, batch, all[i])
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %v, %v, want %v", job, got, err, want)
			}
		}
	}
	twice := [2][]prio.Prepared{append(slices.Clone(v[0]), v[0][0]), append(slices.Clone(v[1]), v[1][0])}
	commit("job 1", "monday", twice, prio.Accepted, prio.Accepted, prio.Accepted, prio.ReportReplayed)
	commit("job 1", "monday", twice, prio.Accepted, prio.Accepted, prio.Accepted, prio.ReportReplayed) // its answer was lost
	_, err := both[0].Commit(t.Context(), "job 1", "monday", v[0])
	expect(t, "job 1 of other contributions", err, prio.JobMismatch)
	commit("job 2", "tuesday", v, prio.ReportReplayed, prio.ReportReplayed, prio.ReportReplayed)
	for i := range both {
		both[i].Close()
	}
	both = open()
	commit("job 3", "monday", v, prio.ReportReplayed, prio.ReportReplayed, prio.ReportReplayed)
	_, err = both[0].Collect(t.Context(), "c1", "monday", 4, law)
	expect(t, "three of four contributions", err, prio.BatchSize)
	_, err = both[0].Collect(t.Context(), "c1", "sunday", 1, law)
	expect(t, "no contribution", err, prio.BatchSize)
	var got [2]*prio.Collected
	for i := range both {
		if got[i], err = both[i].Collect(t.Context(), "c1", "monday", 3, law); err != nil {
			t.Fatal(err)
		}
		again, err := both[i].Collect(t.Context(), "c1", "monday", 3, law)
		if err != nil || !bytes.Equal(again.Share, got[i].Share) {
			t.Errorf("the collection again is %v, %v: noise was drawn twice", again, err)
		}
		_, err = both[i].Collect(t.Context(), "c2", "monday", 3, law)
		expect(t, "another collection", err, prio.BatchOverlap)
	}
	if got[0].Count != 3 || got[1].Count != 3 || !bytes.Equal(got[0].Checksum, got[1].Checksum) {
		t.Errorf("the aggregators have different contributions: %+v", got)
	}
	if sum := total(t, got[0], got[1]); fmt.Sprint(sum) != "[1 0 2]" {
		t.Errorf("the total is %v, want [1 0 2]", sum)
	}
	commit("job 4", "monday", votes(t, 1), prio.BatchCollected)
	commit("job 5", "wednesday", votes(t, 1), prio.Accepted)
	if _, err := prio.OpenBuckets(t.Context(), filepath.Join(dir, "0"), histogram, filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, "9999"), Neighbours: privacy.ReplaceOne}); err == nil {
		t.Error("a state was opened with a larger budget")
	}
}

// Each aggregator adds the whole noise: one of them leaves the total as private as its law. Of
// 300 values' noise at scale 4 all are 0 with probability below 1e-100.
func TestEachAggregatorAddsTheWholeNoise(t *testing.T) {
	b := buckets(t, filepath.Join(t.TempDir(), "state"), "1000")
	law := laplace(t, "1/2")
	noisy := 0
	for i := range 100 {
		v := votes(t, 0)
		batch := fmt.Sprint(i)
		if _, err := b.Commit(t.Context(), batch, batch, v[0]); err != nil {
			t.Fatal(err)
		}
		c, err := b.Collect(t.Context(), batch, batch, 1, law)
		if err != nil {
			t.Fatal(err)
		}
		mine, err := histogram.Field().Read(c.Share, 3)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := histogram.Field().Unshard([]prio.Vector{mine, v[1][0].Share})
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(exact) != "[1 0 0]" {
			noisy++
		}
	}
	if noisy < 50 { // the noise on three values is 0 with probability 0.002
		t.Errorf("%d of 100 totals had noise of one aggregator", noisy)
	}
}

// Fifty collections at once against a budget for ten: ten are made.
func TestCollectionsMeetTheBudget(t *testing.T) {
	b := buckets(t, filepath.Join(t.TempDir(), "state"), "5")
	law := laplace(t, "1/2")
	for i := range 50 {
		if _, err := b.Commit(t.Context(), fmt.Sprint(i), fmt.Sprint(i), votes(t, 0)[0]); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	made := make(chan bool, 50)
	for i := range 50 {
		all.Go(func() {
			_, err := b.Collect(t.Context(), "c", fmt.Sprint(i), 1, law)
			if err == nil {
				made <- true
				return
			}
			expect(t, "a collection", err, prio.Exhausted)
		})
	}
	all.Wait()
	if len(made) != 10 {
		t.Errorf("%d collections were made, want 10", len(made))
	}
}

// A collection says how many contribute: a budget that would hide that is refused.
func TestBudgetsHideNoParticipation(t *testing.T) {
	_, err := prio.OpenBuckets(t.Context(), filepath.Join(t.TempDir(), "state"), histogram, filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, "1"), Neighbours: privacy.AddRemove})
	if err == nil {
		t.Error("a collection with an exact count is charged as if it hid who takes part")
	}
}

// Noise that was made for less than a contribution moves is refused, and so is what the field
// may not hold: it would be read as another number. Nothing is charged.
func TestNoiseMeetsTheCircuit(t *testing.T) {
	hides := func(distance int64) mechanism.Additive {
		law, err := mechanism.NewLaplace(mechanism.LaplaceOptions{Sensitivity: big.NewRat(distance, 1), Epsilon: epsilon(t, "1")})
		if err != nil {
			t.Fatal(err)
		}
		return law
	}
	for name, c := range map[string]struct {
		prio.Circuit
		law mechanism.Additive
		ok  bool
	}{
		"one place, added":    {histogram, hides(1), false},
		"one place, replaced": {histogram, hides(2), true},
		"a number to 2":       {prio.Circuit{Kind: prio.Sum, Max: 2}, hides(4), true},
		"a number to 3":       {prio.Circuit{Kind: prio.Sum, Max: 3}, hides(4), false},
		"two of three places": {prio.Circuit{Kind: prio.Multihot, Length: 3, Weight: 2, Chunk: 2}, hides(4), true},
		"three of them":       {prio.Circuit{Kind: prio.Multihot, Length: 3, Weight: 3, Chunk: 2}, hides(4), false},
		"two bits":            {prio.Circuit{Kind: prio.SumVec, Length: 2, Bits: 1, Chunk: 1}, hides(2), false},
		"two bits, replaced":  {prio.Circuit{Kind: prio.SumVec, Length: 2, Bits: 1, Chunk: 1}, hides(4), true},
		"a number to 2^40":    {prio.Circuit{Kind: prio.Sum, Max: 1 << 40}, hides(1 << 41), true},
		"more than the field": {prio.Circuit{Kind: prio.Sum, Max: 1 << 60}, hides(1 << 61), false},
	} {
		b, err := prio.OpenBuckets(t.Context(), filepath.Join(t.TempDir(), "state"), c.Circuit, filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, "1"), Neighbours: privacy.ReplaceOne})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		share := c.Field().Zero(c.Values())
		if _, err := b.Commit(t.Context(), "job", "batch", []prio.Prepared{{Share: share}}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Collect(t.Context(), "c", "batch", 1, c.law); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
