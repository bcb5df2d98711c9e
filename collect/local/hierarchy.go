package local

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// HierarchyOptions say what is asked.
type HierarchyOptions struct {
	// Values is the number of values, which have an order. Required.
	Values int
	// Branches is how many parts a range has at the next level; 4 if it is not given.
	Branches int
	// Protocol tells the range at a level; OLH if it is not given.
	Protocol Protocol
	// Epsilon is what a report may reveal. Required.
	Epsilon privacy.Epsilon
}

// Hierarchy asks for ranges of values, so that sums over a range have an error that grows with
// the logarithm of its length and not with its root, and quantiles with it (Cormode, Kulkarni
// and Srivastava 2019). Each respondent tells the range of one level, which is a public coin,
// with all of ε. It is immutable and safe for concurrent use.
type Hierarchy struct {
	options HierarchyOptions
	levels  []*Frequency // from the coarsest; the last one tells values
	widths  []int        // of a range at each level
}

// NewHierarchy returns the protocol with the given options.
func NewHierarchy(o HierarchyOptions) (*Hierarchy, error) {
	o.Branches = orElse(o.Branches, 4)
	if o.Branches < 2 || o.Branches > 1024 {
		return nil, parameter("a range has 2 to 1024 parts")
	}
	if o.Protocol == "" {
		o.Protocol = OLH
	}
	h := &Hierarchy{options: o}
	for width := 1; width < o.Values || width == 1; width *= o.Branches {
		n := (o.Values + width - 1) / width
		f, err := NewFrequency(FrequencyOptions{Protocol: o.Protocol, Values: n, Epsilon: o.Epsilon})
		if err != nil {
			return nil, err
		}
		h.levels = append([]*Frequency{f}, h.levels...)
		h.widths = append([]int{width}, h.widths...)
	}
	return h, nil
}

// Epsilon is what one report reveals at most.
func (h *Hierarchy) Epsilon() (e privacy.Epsilon) {
	for _, f := range h.levels {
		if f.Epsilon().Cmp(e) > 0 {
			e = f.Epsilon()
		}
	}
	return e
}

// Event is what one report reveals.
func (h *Hierarchy) Event() privacy.Event { return replaceOne(h.Epsilon()) }

// Levels is the number of levels.
func (h *Hierarchy) Levels() int { return len(h.levels) }

// Randomize returns a report of a value: the level, and the level's report of its range.
func (h *Hierarchy) Randomize(s *noise.Stream, value int) (Report, error) {
	level, err := s.Index(len(h.levels))
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	at := -1 // a random range
	if value >= 0 && value < h.options.Values {
		at = value / h.widths[level]
	}
	r, err := h.levels[level].Randomize(s, at)
	if err != nil {
		return nil, err
	}
	return append(Report{uint64(level)}, r...), nil
}

// Format writes a report as [Frequency.Format] does, after its level.
func (h *Hierarchy) Format(r Report) string {
	if len(r) == 0 || r[0] >= uint64(len(h.levels)) {
		return ""
	}
	return fmt.Sprintf("%d %s", r[0], h.levels[r[0]].Format(r[1:]))
}

// Parse reads what Format writes, and refuses what is no report of the protocol.
func (h *Hierarchy) Parse(text string) (Report, error) {
	first, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	level, err := strconv.ParseUint(first, 10, 64)
	if err != nil || level >= uint64(len(h.levels)) {
		return nil, fmt.Errorf("%w: there is no such level", ErrReport)
	}
	r, err := h.levels[level].Parse(rest)
	if err != nil {
		return nil, err
	}
	return append(Report{level}, r...), nil
}

// Variance is about that of the raw share of one range of a level from one report, where the
// true one is share: a level is told by one of so many respondents as there are levels, drawn
// at random.
func (h *Hierarchy) Variance(level int, share float64) float64 {
	l := float64(len(h.levels))
	return l*h.levels[level].Variance(share) + (l-1)*share*(1-share)
}

// Describe returns the numbers of the protocol. Variances are those of a raw share of a range
// from so many reports.
func (h *Hierarchy) Describe(reports int64) *Description {
	e := h.Epsilon()
	d := newDescription(h.options.Protocol, h.options.Epsilon, e, h.options.Epsilon.Float64(), e.Float64(), reports)
	d.Set("categories", h.options.Values)
	d.Set("reports", max(reports, 1))
	d.Set("levels", len(h.levels))
	d.Set("branches", h.options.Branches)
	last := len(h.levels) - 1
	d.Set("var_f0", h.Variance(last, 0)/d.reports)
	d.Set("var_f01", h.Variance(last, 0.1)/d.reports)
	d.Set("variance", h.Variance(last, 0)/d.reports)
	d.Set("event", h.Event())
	return d
}

// A HierarchyTally adds up reports.
type HierarchyTally struct {
	of      *Hierarchy
	tallies []*Tally
}

// Reports is how many reports were counted.
func (t *HierarchyTally) Reports() (n int64) {
	for _, of := range t.tallies {
		n += of.Reports()
	}
	return n
}

// NewTally returns an empty tally.
func (h *Hierarchy) NewTally() *HierarchyTally {
	t := &HierarchyTally{of: h}
	for _, f := range h.levels {
		t.tallies = append(t.tallies, f.NewTally())
	}
	return t
}

// Add counts a report. It refuses one that the protocol does not make, and then counts nothing.
func (t *HierarchyTally) Add(r Report) error {
	if len(r) == 0 || r[0] >= uint64(len(t.tallies)) {
		return fmt.Errorf("%w: there is no such level", ErrReport)
	}
	return t.tallies[r[0]].Add(r[1:])
}

// Ranges are what the reports tell: the raw shares of every range of every level. Each level is
// told by respondents of its own.
type Ranges struct {
	of     *Hierarchy
	levels []*Estimates
}

// Ranges returns the estimates of all levels. With beta, all intervals of all levels hold
// together but with that probability; those of a level for the respondents who told it, drawn at
// random.
func (t *HierarchyTally) Ranges(beta *big.Rat) (*Ranges, error) {
	if beta == nil {
		beta = big.NewRat(1, 20)
	}
	each := EstimateOptions{Beta: over(beta, whole(len(t.tallies))), Together: true}
	r := &Ranges{of: t.of}
	for _, tally := range t.tallies {
		e, err := tally.Estimate(each)
		if err != nil {
			return nil, err
		}
		r.levels = append(r.levels, e)
	}
	return r, nil
}

// Share returns the share of the values from lo to below hi, with bounds: the sum over the
// fewest ranges that make it up.
func (r *Ranges) Share(lo, hi int) (raw, low, high float64) {
	for level, i := range r.of.pieces(lo, hi) {
		e := r.levels[level]
		raw += e.Raw[i]
		if e.Low != nil {
			low, high = low+e.Low[i], high+e.High[i]
		} else {
			high = 1
		}
	}
	return raw, min(low, 1), min(high, 1)
}

// Deviation is about the standard deviation of the raw share of the values from lo to below hi,
// from so many reports, where nobody has them.
func (h *Hierarchy) Deviation(lo, hi int, reports int64) float64 {
	sum := 0.0
	for level := range h.pieces(lo, hi) {
		sum += h.Variance(level, 0)
	}
	return math.Sqrt(sum / float64(reports))
}

// pieces are the fewest ranges that make up the values from lo to below hi: the level of each,
// and its place there.
func (h *Hierarchy) pieces(lo, hi int) iter.Seq2[int, int] {
	return func(yield func(level, i int) bool) {
		lo, hi := max(lo, 0), min(hi, h.options.Values)
		for lo < hi {
			level := 0
			for level+1 < len(h.levels) && (lo%h.widths[level] != 0 || lo+h.widths[level] > hi && hi != h.options.Values) {
				level++
			}
			if !yield(level, lo/h.widths[level]) {
				return
			}
			lo += h.widths[level]
		}
	}
}

// Quantile returns the least value such that the share of all up to it is at least share, by
// the raw shares, going down from the coarsest level. It is biased, and claims no interval.
func (r *Ranges) Quantile(share float64) int {
	lo, width := 0, r.of.options.Values
	for _, w := range r.of.widths {
		for next := lo + w; next < min(lo+width, r.of.options.Values); next += w {
			if raw, _, _ := r.Share(0, next); raw >= share {
				break
			}
			lo = next
		}
		width = w
	}
	return lo
}
