package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// The members of the profile that are no aggregators.
const (
	ClientName    = "client"    // stands for all devices that contribute
	CollectorName = "collector" // who asks
)

// expires is when the task of a cluster does: a folder may lie for long before it is used.
var expires = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// Profile is a private sum as a cluster, with one task.
func Profile() cluster.Profile {
	return cluster.Profile{
		Name: "prio", Short: "people's numbers, added up by aggregators of whom none sees one",
		Settings: []cluster.Setting{
			{Name: "kind", Default: "histogram", Usage: "count, sum, sumvec, histogram or multihot"},
			{Name: "max", Default: "", Usage: "of a sum: the largest number"},
			{Name: "length", Default: "", Usage: "of a vector, histogram (4) or multihot: how many places"},
			{Name: "bits", Default: "", Usage: "of a vector: of each number"},
			{Name: "weight", Default: "", Usage: "of a multihot: how many places at most"},
			{Name: "aggregators", Default: "2", Usage: "leader and helpers, all of whom but one may collude"},
			{Name: "colluding", Default: "", Usage: "how many of them may collude at most, where that is fewer: each then adds a share of the noise"},
			{Name: "shares", Default: "", Usage: "of the noise of a rho, where fewer may collude: skellam; empty: Gaussian draws"},
			{Name: "least", Default: "10", Usage: "contributions of a batch, at least"},
			{Name: "epsilon", Default: "1", Usage: "what a collection reveals, by Laplace noise"},
			{Name: "rho", Default: "", Usage: "or this, by Gaussian noise"},
			{Name: "budget", Default: "10", Usage: "the epsilon of all collections together"},
			{Name: "delta", Default: "1e-6", Usage: "of the budget, with rho"},
		},
		Members: members,
		Roles:   map[string]cluster.Role{"aggregator": Role},
	}
}

// Role is the process of an aggregator of the profile.
func Role(ctx context.Context, s *cluster.Station) error {
	var c Config
	if err := s.Decode(&c); err != nil {
		return err
	}
	return Aggregate(ctx, s, c)
}

// TaskOf is the task that a client or collector of the profile decodes.
func TaskOf(s *cluster.Station) (*Task, error) {
	var c Config
	if err := s.Decode(&c); err != nil {
		return nil, err
	}
	if c.Task == nil {
		return nil, fmt.Errorf("%w: the folder names none", ErrTask)
	}
	return c.Task, c.Task.Check()
}

// Aggregators are the names of n aggregators, the leader first.
func Aggregators(n int) []string {
	names := []string{"leader"}
	for i := 1; i < n; i++ {
		names = append(names, fmt.Sprintf("helper-%d", i))
	}
	return names
}

// Members are aggregators as members of a cluster.
func Members(names []string, c Config) (all []cluster.Member) {
	for _, name := range slices.Backward(names) { // helpers first: the leader finds them
		m := cluster.Member{Name: name, Kind: "aggregator", Config: c}
		if name == names[0] {
			m.Peers = names[1:]
		}
		all = append(all, m)
	}
	return all
}

func members(s cluster.Settings) ([]cluster.Member, error) {
	t, err := taskFrom(s)
	if err != nil {
		return nil, err
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	c := Config{Task: t}
	return append(Members(t.Aggregators, c),
		cluster.Member{Name: ClientName, Peers: t.Aggregators, Config: c},
		cluster.Member{Name: CollectorName, Peers: t.Aggregators, Config: c}), nil
}

// taskFrom reads the settings of the profile.
func taskFrom(s cluster.Settings) (*Task, error) {
	var errs []error
	number := func(name string, otherwise uint64) uint64 {
		if s[name] == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(s[name], 10, 62)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s=%s: want a whole number", name, s[name]))
		}
		return n
	}
	t := &Task{Version: Version, Name: "prio", Clients: []string{ClientName}, Collector: CollectorName, Begins: time.Unix(0, 0).UTC(), Expires: expires}
	kind := prio.Kind(s["kind"])
	t.Circuit = prio.Circuit{Kind: kind, Max: number("max", 0), Length: uint(number("length", 0)), Bits: uint(number("bits", 0)), Weight: uint(number("weight", 0))}
	if kind == prio.Histogram && s["length"] == "" {
		t.Circuit.Length = 4
	}
	t.Circuit.Chunk = t.Circuit.BestChunk()
	n := number("aggregators", 0)
	if n > maxAggregators {
		errs = append(errs, fmt.Errorf("aggregators: at most %d", maxAggregators))
		n = 2
	}
	t.Aggregators, t.Least, t.Colluding = Aggregators(int(n)), int64(number("least", 0)), int(number("colluding", 0))
	t.Shares = mechanism.Sharing(s["shares"])
	var err error
	t.Budget = filter.Budget{Measure: filter.Pure, Neighbours: privacy.ReplaceOne}
	if t.Budget.Epsilon, err = privacy.ParseEpsilon(s["budget"]); err != nil {
		errs = append(errs, fmt.Errorf("budget: %w", err))
	}
	if s["rho"] != "" {
		if t.Noise.Rho, err = privacy.ParseRho(s["rho"]); err != nil {
			errs = append(errs, err)
		}
		t.Budget.Measure = filter.ZCDP
		if t.Budget.Delta, err = privacy.ParseDelta(s["delta"]); err != nil {
			errs = append(errs, err)
		}
	} else if t.Noise.Epsilon, err = privacy.ParseEpsilon(s["epsilon"]); err != nil {
		errs = append(errs, err)
	}
	return t, errors.Join(errs...)
}
