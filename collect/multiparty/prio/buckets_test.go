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
	"github.com/discreet-dp/discreet/internal/store"
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

func buckets(t testing.TB, path, budget string, law mechanism.Additive) *prio.Buckets {
	t.Helper()
	return opened(t, path, options(t, budget, law, 1))
}

func options(t testing.TB, budget string, law mechanism.Additive, least int64) prio.BucketOptions {
	return prio.BucketOptions{Circuit: histogram, Aggregators: 2, Law: law, Least: least,
		Budget: filter.Budget{Measure: filter.Pure, Epsilon: epsilon(t, budget), Neighbours: privacy.ReplaceOne}}
}

func opened(t testing.TB, path string, o prio.BucketOptions) *prio.Buckets {
	t.Helper()
	b, err := prio.OpenBuckets(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// collect makes a whole collection at one aggregator.
func collect(t testing.TB, b *prio.Buckets, collection, batch string) (*prio.Collected, error) {
	begun, err := b.Begin(t.Context(), collection, batch)
	if err != nil {
		return nil, err
	}
	return b.Collect(t.Context(), collection, batch, begun.Mark)
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
	dir, law := t.TempDir(), laplace(t, "400") // noise with probability below e^-198
	open := func() (out [2]*prio.Buckets) {
		for i := range out {
			out[i] = opened(t, filepath.Join(dir, fmt.Sprint(i)), options(t, "1000", law, 3))
		}
		return out
	}
	both := open()
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
	_, err = both[0].Begin(t.Context(), "c1", "tuesday")
	expect(t, "none of three contributions", err, prio.BatchSize)
	_, err = both[0].Begin(t.Context(), "c1", "sunday")
	expect(t, "no contribution", err, prio.BatchSize)
	var got [2]*prio.Collected
	for i := range both {
		begun, err := both[i].Begin(t.Context(), "c1", "monday")
		if err != nil {
			t.Fatal(err)
		}
		again, err := both[i].Begin(t.Context(), "c1", "monday")
		if err != nil || !bytes.Equal(again.Mark, begun.Mark) {
			t.Errorf("the collection begins again with %v, %v: noise was drawn twice", again, err)
		}
		commit2, err := both[i].Commit(t.Context(), "late", "monday", votes(t, 1)[i])
		if err != nil || !slices.Equal(commit2, []string{prio.BatchCollected}) {
			t.Errorf("a batch that is being collected takes a contribution: %v, %v", commit2, err)
		}
		_, err = both[i].Collect(t.Context(), "c1", "monday", []byte("another mark...."))
		expect(t, "a collection by other noise", err, prio.Restored)
		if got[i], err = both[i].Collect(t.Context(), "c1", "monday", begun.Mark); err != nil {
			t.Fatal(err)
		}
		same, err := both[i].Collect(t.Context(), "c1", "monday", begun.Mark)
		if err != nil || !bytes.Equal(same.Share, got[i].Share) {
			t.Errorf("the collection again is %v, %v", same, err)
		}
		_, err = both[i].Begin(t.Context(), "c2", "monday")
		expect(t, "another collection", err, prio.BatchOverlap)
		_, err = both[i].Collect(t.Context(), "c2", "monday", begun.Mark)
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
	if _, err := prio.OpenBuckets(t.Context(), filepath.Join(dir, "0"), options(t, "9999", law, 3)); err == nil {
		t.Error("a state was opened with a larger budget")
	}
	if _, err := prio.OpenBuckets(t.Context(), filepath.Join(dir, "0"), options(t, "1000", laplace(t, "500"), 3)); err == nil {
		t.Error("a state was opened with less noise")
	}
}

// A copy of a state, from before its noise was drawn, draws other noise: the collection that others
// have begun is refused. A copy from after has the same noise, and gives the same bytes.
func TestRestoredBucketsHaveOneNoise(t *testing.T) {
	dir := t.TempDir()
	path, law := filepath.Join(dir, "state"), laplace(t, "1/2")
	b := buckets(t, path, "10", law)
	if _, err := b.Commit(t.Context(), "job", "batch", votes(t, 1)[0]); err != nil {
		t.Fatal(err)
	}
	copied := func(name string) *prio.Buckets {
		to := filepath.Join(dir, name)
		if err := store.Copy(t.Context(), path, to); err != nil {
			t.Fatal(err)
		}
		return buckets(t, to, "10", law)
	}
	before := copied("before")
	begun, err := b.Begin(t.Context(), "c", "batch")
	if err != nil {
		t.Fatal(err)
	}
	after := copied("after")
	first, err := b.Collect(t.Context(), "c", "batch", begun.Mark)
	if err != nil {
		t.Fatal(err)
	}
	again, err := before.Begin(t.Context(), "c", "batch")
	if err != nil || bytes.Equal(again.Mark, begun.Mark) {
		t.Errorf("a copy without noise begins with %v, %v", again, err)
	}
	_, err = before.Collect(t.Context(), "c", "batch", begun.Mark)
	expect(t, "a copy from before the noise", err, prio.Restored)
	same, err := after.Collect(t.Context(), "c", "batch", begun.Mark)
	if err != nil || !bytes.Equal(same.Share, first.Share) {
		t.Errorf("a copy from after the noise gives %v, %v, want %v", same, err, first)
	}
}

// Each aggregator adds the whole noise, so that one of them leaves the total as private as its law: what
// one has added is within the law's own variance. Of 600 batches of 3 places the mean square is that of
// 1,800 draws of discrete Laplace noise of scale 4, of variance 31.8: it is below 20.8 or above 48.5 with probability
// below 1e-10 (Chernoff's bound for squares of what is below 45 scales). Half of the noise, the fault that this is for, has
// a mean square of 16 or 8.
func TestEachAggregatorAddsTheWholeNoise(t *testing.T) {
	b := buckets(t, filepath.Join(t.TempDir(), "state"), "1000", laplace(t, "1/2"))
	const batches = 600
	v := votes(t, make([]uint64, batches)...)
	square := 0.0
	for i := range batches {
		batch := fmt.Sprint(i)
		if _, err := b.Commit(t.Context(), batch, batch, v[0][i:i+1]); err != nil {
			t.Fatal(err)
		}
		c, err := collect(t, b, batch, batch)
		if err != nil {
			t.Fatal(err)
		}
		mine, err := histogram.Field().Read(c.Share, 3)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := histogram.Field().Unshard([]prio.Vector{mine, v[1][i].Share})
		if err != nil {
			t.Fatal(err)
		}
		exact[0].Sub(exact[0], big.NewInt(1))
		for _, x := range exact {
			f, _ := x.Float64()
			square += f * f / (3 * batches)
		}
	}
	if square < 20.8 || square > 48.5 {
		t.Errorf("the noise of one aggregator has a mean square of %v, want 31.8", square)
	}
	t.Log(square)
}

// Fifty collections at once against a budget for ten: ten are made.
func TestCollectionsMeetTheBudget(t *testing.T) {
	b := buckets(t, filepath.Join(t.TempDir(), "state"), "5", laplace(t, "1/2"))
	for i := range 50 {
		if _, err := b.Commit(t.Context(), fmt.Sprint(i), fmt.Sprint(i), votes(t, 0)[0]); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	made := make(chan bool, 50)
	for i := range 50 {
		all.Go(func() {
			_, err := collect(t, b, "c", fmt.Sprint(i))
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
	o := options(t, "1", laplace(t, "1"), 1)
	o.Budget.Neighbours = privacy.AddRemove
	_, err := prio.OpenBuckets(t.Context(), filepath.Join(t.TempDir(), "state"), o)
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
		o := options(t, "1", c.law, 1)
		o.Circuit = c.Circuit
		err := func() error {
			b, err := prio.OpenBuckets(t.Context(), filepath.Join(t.TempDir(), "state"), o)
			if err != nil {
				return err
			}
			defer b.Close()
			share := c.Field().Zero(c.Values())
			if _, err := b.Commit(t.Context(), "job", "batch", []prio.Prepared{{Share: share}}); err != nil {
				t.Fatal(err)
			}
			_, err = collect(t, b, "c", "batch")
			return err
		}()
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A distance that clients promise is what the noise must hide, instead of the circuit's.
func TestNoiseMeetsThePromise(t *testing.T) {
	for _, c := range []struct {
		promised *prio.Distance
		ok       bool
	}{{nil, false}, {&prio.Distance{L1: big.NewRat(3, 1)}, false}, {&prio.Distance{L1: big.NewRat(2, 1)}, true}, {&prio.Distance{L2Squared: big.NewRat(1, 1)}, false}, {&prio.Distance{L1: new(big.Rat)}, false}} {
		o := options(t, "1", laplace(t, "1"), 1)
		o.Circuit, o.Distance = prio.Circuit{Kind: prio.SumVec, Length: 3, Bits: 8, Chunk: 5}, c.promised
		if err := o.Check(); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.promised, err)
		}
	}
}
