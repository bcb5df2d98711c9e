package process

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
)

// A device that ends anywhere between its first step and the acknowledgement goes on: no code is
// lost, no answer is told twice, and what was made first is what is told. With ε₀ = 40 an answer is
// told as it is but with probability 4·e^-40.
func TestDevicesGoOn(t *testing.T) {
	c := clustertest.Up(t, Profile(), cluster.Settings{"batch": "20", "epsilon": "40"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	owner, client := clustertest.Member(t, c, Owner), clustertest.Member(t, c, Client)
	codes, err := NewCodes(20)
	if err == nil {
		err = Enrol(ctx, owner, codes)
	}
	if err != nil {
		t.Fatal(err)
	}
	answers := func(answer int) (all []Answer) {
		for _, code := range codes {
			all = append(all, Answer{Code: code, Answer: answer})
		}
		return all
	}
	device := func() *Respondents {
		r, err := NewRespondents(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	steps := func(r *Respondents, some []Answer, upTo int) (all []kept) {
		box, err := openOutbox(ctx, client)
		if err != nil {
			t.Fatal(err)
		}
		defer box.db.Close()
		if all, err = box.begin(ctx, some); err != nil || upTo == 0 {
			return all
		}
		var seeds [][]byte
		for _, k := range all {
			seeds = append(seeds, k.seed)
		}
		envelopes, err := r.prepare(ctx, some, seeds, 1)
		if err != nil {
			t.Fatal(err)
		}
		if upTo == 1 { // the issuer has signed, and nothing of it is kept
			return all
		}
		for i := range all {
			all[i].envelope = envelopes[i]
		}
		if err := box.keep(ctx, all); err != nil || upTo == 2 {
			return all
		}
		if _, err := r.Deliver(ctx, envelopes); err != nil {
			t.Fatal(err)
		}
		return all // the shuffler has them, and the device does not know
	}
	for step := range 4 {
		if all := steps(device(), answers(1)[5*step:5*step+5], step); len(all) != 5 {
			t.Fatalf("step %d: %d", step, len(all))
		}
	}
	// By now they would answer otherwise: it counts where no envelope was made.
	tally, err := device().Report(ctx, answers(2))
	if err != nil || tally.Accepted != 15 || tally.Repeated != 5 || tally.Refused != 0 {
		t.Fatalf("%+v, %v", tally, err)
	}
	var r *Result
	for r, err = Results(ctx, owner); err == nil && r.Respondents < 20; r, err = Results(ctx, owner) {
		<-time.After(50 * time.Millisecond)
	}
	if err != nil || !slices.Equal(r.Told, []int64{0, 10, 10, 0}) {
		t.Errorf("%+v, %v", r, err)
	}
	box, err := openOutbox(ctx, client)
	if err != nil {
		t.Fatal(err)
	}
	defer box.db.Close()
	var left int
	if err := box.db.QueryRowContext(ctx, "SELECT count(*) FROM outbox").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d entries are left, %v", left, err)
	}

	// A code that was used is refused, and leaves nothing behind; one that stands twice reports once.
	var p *cluster.Problem
	if tally, err := device().Report(ctx, answers(1)[:1]); !errors.As(err, &p) || p.Type != "tokenIssued" || tally.Accepted != 0 {
		t.Errorf("a code that was used: %+v, %v", tally, err)
	}
	more, err := NewCodes(1)
	if err == nil {
		err = Enrol(ctx, owner, more)
	}
	if err != nil {
		t.Fatal(err)
	}
	twice := []Answer{{Code: more[0], Answer: 1}, {Code: more[0], Answer: 2}}
	if tally, err := device().Report(ctx, twice); !errors.As(err, &p) || p.Type != "tokenIssued" || tally.Accepted != 1 {
		t.Errorf("a code twice: %+v, %v", tally, err)
	}
	if err := in(ctx, box.db, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT count(*) FROM outbox").Scan(&left)
	}); err != nil || left != 0 {
		t.Errorf("%d entries are left, %v", left, err)
	}
}

// Fifty devices at once that have ten codes between them get tokens for ten, whoever is first.
func TestFiftyDevicesTenCodes(t *testing.T) {
	c := clustertest.Up(t, Profile(), cluster.Settings{"batch": "10"}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	codes, err := NewCodes(10)
	if err == nil {
		err = Enrol(ctx, clustertest.Member(t, c, Owner), codes)
	}
	if err != nil {
		t.Fatal(err)
	}
	people, err := NewRespondents(ctx, clustertest.Member(t, c, Client))
	if err != nil {
		t.Fatal(err)
	}
	var lock sync.Mutex
	got, refused := map[string]int{}, 0
	var wait sync.WaitGroup
	for i := range 50 {
		wait.Go(func() {
			code := codes[i%10]
			envelopes, err := people.Prepare(ctx, []Answer{{Code: code, Answer: 1}})
			lock.Lock()
			defer lock.Unlock()
			var p *cluster.Problem
			switch {
			case err == nil && len(envelopes) == 1 && envelopes[0] != nil:
				got[code]++
			case errors.As(err, &p) && p.Type == "tokenIssued":
				refused++
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(got) != 10 || refused != 40 {
		t.Errorf("%d codes have tokens, %d devices are refused", len(got), refused)
	}
}
