package analysis

import (
	"cmp"
	"math"
	"slices"
)

// A key is all that the cost of a query depends on.
type key struct {
	logq     float64
	largest  int32 // with a threshold
	answered bool  // where that is known
}

// compare orders keys, so that sums do not depend on the number of processors.
func (a key) compare(b key) int {
	switch {
	case a.logq < b.logq:
		return -1
	case a.logq > b.logq:
		return 1
	case a.largest != b.largest:
		return cmp.Compare(a.largest, b.largest)
	case a.answered == b.answered:
		return 0
	case a.answered:
		return 1
	}
	return -1
}

// gather makes one query of those that cost the same.
func (o *Options) gather(v *Votes, workers int) []query {
	const block = 1 << 14
	pairs := o.pairs(v)
	n := v.Len()
	keys := make([]key, n)
	parallel(workers, (n+block-1)/block, func(b int) {
		gaps := make([]int32, v.Classes)
		for i := b * block; i < min((b+1)*block, n); i++ {
			row := v.Row(i)
			k := key{logq: pairs.logQ(row, gaps)}
			if o.Threshold != nil {
				k.largest = slices.Max(row)
				k.answered = o.Answered != nil && o.Answered[i]
			}
			keys[i] = k
		}
	})
	keys = sorted(keys, workers)
	var queries []query
	tests := make(map[int32]*query) // by largest count: few are distinct
	for i := 0; i < len(keys); {
		first := i
		for i < len(keys) && keys[i] == keys[first] {
			i++
		}
		queries = append(queries, o.query(keys[first], i-first, tests))
	}
	parallel(workers, (len(queries)+block-1)/block, func(b int) {
		for i := b * block; i < min((b+1)*block, len(queries)); i++ {
			q := &queries[i]
			if o.LNMax != nil {
				q.answer = pure{2 * o.LNMax.Gamma}.known(q.answer.logq)
			} else {
				q.answer = o.GNMax.known(q.answer.logq)
			}
		}
	})
	return queries
}

// query makes a query without the bound of its answer; of the bound it sets ln q alone.
func (o *Options) query(k key, n int, tests map[int32]*query) query {
	q := query{n: n, weight: 1, answer: bound{mixture: mixture{logq: k.logq}}}
	if o.Threshold == nil {
		return q
	}
	t, ok := tests[k.largest]
	if !ok {
		largest := float64(k.largest)
		b := o.Threshold.known(largest)
		t = &query{test: &b, weight: math.Exp(o.Threshold.logAnswered(largest))}
		tests[k.largest] = t
	}
	q.test, q.weight = t.test, t.weight
	if o.Answered != nil {
		q.weight = 0
		if k.answered {
			q.weight = 1
		}
	}
	return q
}

// sorted returns the keys in order: equal ones first made one run by halves, then
// merged.
func sorted(keys []key, workers int) []key {
	if workers < 2 || len(keys) < 1<<14 {
		slices.SortFunc(keys, key.compare)
		return keys
	}
	half := len(keys) / 2
	parts := [2][]key{keys[:half], keys[half:]}
	parallel(2, 2, func(i int) { parts[i] = sorted(parts[i], workers/2) })
	out := make([]key, 0, len(keys))
	a, b := parts[0], parts[1]
	for len(a) > 0 && len(b) > 0 {
		if a[0].compare(b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// pairs are, by gap, the bound of the probability that a class so far behind is named
// instead: there are fewer gaps than votes.
type pairs struct {
	log     func(gap float64) float64
	logs    []float64
	numbers []float64
	cap     float64
}

func (o *Options) pairs(v *Votes) *pairs {
	p := &pairs{cap: logCap(v.Classes)}
	if o.LNMax != nil {
		p.log = o.LNMax.pair
	} else {
		p.log = o.GNMax.pair
	}
	n := int(min(slices.Max(v.Counts), 1<<20)) + 1
	for gap := range n {
		log := p.log(float64(gap))
		p.logs, p.numbers = append(p.logs, log), append(p.numbers, math.Exp(log))
	}
	return p
}

func (p *pairs) at(gap int32) float64 {
	if int(gap) < len(p.logs) {
		return p.logs[gap]
	}
	return p.log(float64(gap))
}

// logQ is LogQ, and the same for rows that are permutations of each other: it adds
// up the gaps from the least on. Gaps is scratch.
func (p *pairs) logQ(row, gaps []int32) float64 {
	top := slices.Max(row)
	for j, n := range row {
		gap := top - n
		i := j
		for ; i > 0 && gaps[i-1] > gap; i-- {
			gaps[i] = gaps[i-1]
		}
		gaps[i] = gap
	}
	// gaps[0] is that of the class itself.
	sum := 0.0
	if last := int(gaps[len(gaps)-1]); last < len(p.numbers) && p.numbers[gaps[1]] > 1e-290 {
		for _, gap := range gaps[1:] {
			sum += p.numbers[gap]
		}
		return min(math.Log(sum), p.cap)
	}
	first := p.at(gaps[1])
	if math.IsInf(first, -1) {
		return first
	}
	for _, gap := range gaps[1:] {
		sum += math.Exp(p.at(gap) - first)
	}
	return min(first+math.Log(sum), p.cap)
}
