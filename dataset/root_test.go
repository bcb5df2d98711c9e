package dataset

import (
	"errors"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Budgets of another package that embed another, and so have its methods; a recorder
// says whom it pays for.
type (
	embedding         struct{ budget.Budget }
	embeddingRecorder struct{ *recorder }
)

// Four parts of which a unit's record is in all (four keys, one dataset under each) cost
// ρ of four times the distance. A decoration hides that they are one budget's: what says
// nothing of it is refused, and what says so costs the same as without.
func TestDecoratedBudgetsAreOne(t *testing.T) {
	for name, c := range map[string]struct {
		decorate func(budget.Budget) budget.Budget
		want     string // ρ in all; none: refused
	}{
		"plain":              {func(b budget.Budget) budget.Budget { return b }, "0.16"},
		"says whom it pays":  {func(b budget.Budget) budget.Budget { return &recorder{Budget: b} }, "0.16"},
		"embeds":             {func(b budget.Budget) budget.Budget { return embedding{b} }, ""},
		"embeds what says":   {func(b budget.Budget) budget.Budget { return embeddingRecorder{&recorder{Budget: b}} }, ""},
		"cannot be compared": {func(b budget.Budget) budget.Budget { return logged{b, nil} }, ""},
	} {
		root := zcdpBudget(privacy.AddRemove)
		parts := must(budget.Partition(root, budget.PartitionOptions{Names: []string{"a", "b", "c", "d"}, Spread: 4}))
		var all Dataset[int64]
		for i, p := range parts {
			d := numbers(t, c.decorate(p), 1, 2, 3)
			if all = Concat(all, d); i == 0 {
				all = d
			}
		}
		_, err := NoisyCount(ctx, noise.System(), all, Options{Rho: rho("0.04")})
		got := must(root.Spent(ctx)).Rho.String()
		switch {
		case c.want == "" && (!errors.Is(err, ErrParameter) || !errors.Is(err, budget.ErrRoot) || got != "0"):
			t.Errorf("%s: %v; ρ of %s was spent", name, err, got)
		case c.want != "" && (err != nil || got != c.want):
			t.Errorf("%s: %v; ρ of %s was spent, want %s", name, err, got, c.want)
		}
		// Alone it is as good as any.
		if _, err := NoisyCount(ctx, noise.System(), numbers(t, c.decorate(root), 1), Options{Rho: rho("0.01")}); err != nil {
			t.Errorf("%s, alone: %v", name, err)
		}
	}
}

type logged struct {
	budget.Budget
	notes []string
}

func (l logged) Pays() (self, payer budget.Budget) { return l, l.Budget }

// Bits that are safe for one goroutine alone serve a dataset that many use. Under the race
// detector this fails if a choice draws without the lock.
func TestConcurrentChoices(t *testing.T) {
	b := pureBudget("b", privacy.AddRemove)
	d, err := NewOfUnits(noise.NewStream(noise.System()), []int64{1, 1, 1, 2, 2, 3}, b, identity, 2)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				for _, s := range []source{
					Limit(d, 1, identity).source, GroupBy(d, identity).source, Take(d, 2).source,
					Join(d, d, identity, identity).source, BoundedJoin(d, d, identity, identity, JoinBound{1, 1}).source,
				} {
					if s.err != nil {
						t.Error(s.err)
					}
				}
			}
		})
	}
	wait.Wait()
}
