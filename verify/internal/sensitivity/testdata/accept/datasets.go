package accept

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// AskCount is one question.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskCount(ctx context.Context, d dataset.Dataset[person], epsilon privacy.Epsilon) (int64, error) {
	answer, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Epsilon: epsilon})
	if err != nil {
		return 0, fmt.Errorf("count people: %w", err)
	}
	return answer.Value, nil
}

// AskWhere filters by a public bound, in steps.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskWhere(ctx context.Context, bits noise.Bits, d dataset.Dataset[person], from int, epsilon privacy.Epsilon) (int64, error) {
	adults := dataset.Where(d, func(p person) bool { return p.age >= from })
	women := dataset.Where(adults, func(p person) bool { return p.female })
	answer, err := dataset.NoisyCount(ctx, bits, women, dataset.Options{Epsilon: epsilon})
	return answer.Value, err
}

// AskMean asks for a sum and a count.
//
// want: accepted: 2*epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost 2 * epsilon
func AskMean(ctx context.Context, d dataset.Dataset[person], epsilon privacy.Epsilon) (float64, error) {
	o := dataset.Options{Epsilon: epsilon}
	sum, err := dataset.NoisySum(ctx, noise.System(), d, func(p person) float64 { return p.income }, dataset.SumOptions{Options: o, Lower: 0, Upper: 1e5})
	if err != nil {
		return 0, err
	}
	n, err := dataset.NoisyCount(ctx, noise.System(), d, o)
	if err != nil {
		return 0, err
	}
	return sum.Value / float64(max(1, n.Value)), nil
}

// AskAverage has an operator of its own.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskAverage(ctx context.Context, d dataset.Dataset[person], epsilon privacy.Epsilon) (float64, error) {
	a, err := dataset.NoisyAverage(ctx, noise.System(), d, func(p person) float64 { return p.income }, dataset.SumOptions{
		Options: dataset.Options{Epsilon: epsilon},
		Lower:   0,
		Upper:   1e5,
	})
	return a.Value, err
}

// AskMedian is an order statistic.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskMedian(ctx context.Context, d dataset.Dataset[person], epsilon privacy.Epsilon) (float64, error) {
	a, err := dataset.NoisyMedian(ctx, noise.System(), d, func(p person) float64 { return p.income }, dataset.QuantileOptions{
		Options: dataset.Options{Epsilon: epsilon}, Lower: 0, Upper: 1000, Step: 1,
	})
	return a.Value, err
}

// AskCities is by a partition: each part pays, and they share no record.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskCities(ctx context.Context, d dataset.Dataset[person], cities []string, epsilon privacy.Epsilon) (map[string]int64, error) {
	counts := make(map[string]int64, len(cities))
	for i, part := range dataset.Partition(d, cities, func(p person) string { return p.city }) {
		n, err := dataset.NoisyCount(ctx, noise.System(), part, dataset.Options{Epsilon: epsilon})
		if err != nil {
			return nil, fmt.Errorf("count %s: %w", cities[i], err)
		}
		counts[cities[i]] = n.Value
	}
	return counts, nil
}

// AskCitiesTwice asks each part for two things.
//
// want: accepted: 2*epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost 2 * epsilon
func AskCitiesTwice(ctx context.Context, d dataset.Dataset[person], cities []string, epsilon privacy.Epsilon) ([]float64, error) {
	var means []float64
	parts := dataset.Partition(d, cities, func(p person) string { return strings.ToLower(p.city) })
	for i := range parts {
		n, err := dataset.NoisyCount(ctx, noise.System(), parts[i], dataset.Options{Epsilon: epsilon})
		if err != nil {
			return nil, err
		}
		s, err := dataset.NoisySum(ctx, noise.System(), parts[i], func(p person) float64 { return p.income }, dataset.SumOptions{Options: dataset.Options{Epsilon: epsilon}, Upper: 100})
		if err != nil {
			return nil, err
		}
		if n.Value > 0 {
			means = append(means, s.Value/float64(n.Value))
		} else {
			means = append(means, 0)
		}
	}
	return means, nil
}

// AskHistogram is one release.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskHistogram(ctx context.Context, d dataset.Dataset[person], cities []string, epsilon privacy.Epsilon) ([]int64, error) {
	h, err := dataset.NoisyHistogram(ctx, noise.System(), d, cities, func(p person) string { return p.city }, dataset.Options{Epsilon: epsilon})
	if err != nil {
		return nil, err
	}
	return h.Value, nil
}

// AskBest chooses by a score of each record for each candidate.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost epsilon
func AskBest(ctx context.Context, d dataset.Dataset[person], cities []string, epsilon privacy.Epsilon) (string, error) {
	score := func(p person, city string) float64 {
		if p.city == city {
			return 1
		}
		return 0
	}
	best, err := dataset.Choose(ctx, noise.System(), d, cities, score, dataset.ScoreOptions{Options: dataset.Options{Epsilon: epsilon}, Upper: 1})
	if err != nil {
		return "", err
	}
	return cities[best.Value], nil
}

// AskThenAsk asks about what it chose: two epsilons.
//
// want: accepted: 2*epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost 2 * epsilon
func AskThenAsk(ctx context.Context, d dataset.Dataset[person], cities []string, epsilon privacy.Epsilon) (string, int64, error) {
	best, err := AskBest(ctx, d, cities, epsilon)
	if err != nil {
		return "", 0, err
	}
	of := dataset.Where(d, func(p person) bool { return p.city == best })
	n, err := dataset.NoisyCount(ctx, noise.System(), of, dataset.Options{Epsilon: epsilon})
	if err != nil {
		return "", 0, err
	}
	return best, n.Value, nil
}

// WordCount is PINQ's: at most ten words of each document.
//
// want: accepted: epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost 10 * epsilon
func WordCount(ctx context.Context, d dataset.Dataset[string], word string, epsilon privacy.Epsilon) (int64, error) {
	words := dataset.SelectMany(d, 10, strings.Fields)
	of := dataset.Where(words, func(w string) bool { return w == word })
	n, err := dataset.NoisyCount(ctx, noise.System(), of, dataset.Options{Epsilon: epsilon})
	return n.Value, err
}

// Words selects words: ten records for one.
//
// want: accepted: d: 10
//
//dp:adjacent bag(d) <= 1
//dp:sensitivity d = 10
func SplitWords(d dataset.Dataset[string]) dataset.Dataset[string] {
	return dataset.SelectMany(d, 10, func(s string) []string { return strings.Fields(s) })
}

// Households groups and filters: a group leaves and another comes.
//
// want: accepted: d: 2
//
//dp:adjacent bag(d) <= 1
//dp:sensitivity d = 2
func Households(d dataset.Dataset[person]) dataset.Dataset[dataset.Group[string, person]] {
	groups := dataset.GroupBy(d, func(p person) string { return p.name })
	return dataset.Where(groups, func(g dataset.Group[string, person]) bool { return len(g.Records) > 2 })
}

// Both sides of a union count.
//
// want: accepted: a: 1, b: 1
//
//dp:adjacent bag(a) <= 1
//dp:adjacent bag(b) <= 1
//dp:sensitivity a = 1, b = 1
func Merged(a, b dataset.Dataset[int]) dataset.Dataset[int] {
	return dataset.Distinct(dataset.Concat(a, b))
}

// Incomes selects a field.
//
// want: accepted: d: 1
//
//dp:adjacent bag(d) <= 1
//dp:sensitivity d = 1
func SelectIncomes(d dataset.Dataset[person]) dataset.Dataset[float64] {
	return dataset.Select(d, 0, func(p person) float64 { return p.income })
}

// Session keeps a context and a dataset in a struct with methods.
type session struct {
	data dataset.Dataset[person]
	bits noise.Bits
}

// Moments of Gaussian noise in zCDP: a sum and a count, of rho each.
//
// want: accepted: 2*rho
//
//dp:adjacent bag(d) <= 1
//dp:cost zcdp(2 * rho)
func AskGaussian(ctx context.Context, d dataset.Dataset[person], rho privacy.Rho) (float64, float64, error) {
	n, err := dataset.NoisyCount(ctx, noise.System(), d, dataset.Options{Rho: rho})
	if err != nil {
		return 0, 0, err
	}
	s, err := dataset.NoisySum(ctx, noise.System(), d, func(p person) float64 { return p.income }, dataset.SumOptions{
		Options: dataset.Options{Rho: rho}, Lower: 0, Upper: 100,
	})
	if err != nil {
		return 0, 0, err
	}
	return float64(n.Value), s.Value, nil
}

// Gradient steps on vectors whose sum is clipped.
//
// want: accepted: k*rho
//
//dp:adjacent bag(d) <= 1
//dp:requires k >= 0
//dp:cost zcdp(float64(k) * rho)
func AskGradient(ctx context.Context, d dataset.Dataset[row], dim, k int, rho privacy.Rho) ([]float64, error) {
	w := make([]float64, dim)
	for range k {
		now := w
		g, err := dataset.NoisyVectorSum(ctx, noise.System(), d, func(r row) []float64 {
			e := predict(now, r.features) - r.target
			slope := make([]float64, len(r.features))
			for j, x := range r.features {
				slope[j] = e * x
			}
			return slope
		}, dataset.VectorOptions{Options: dataset.Options{Rho: rho}, Dimension: dim, Clip: 1})
		if err != nil {
			return nil, err
		}
		next := make([]float64, dim)
		for j := range next {
			next[j] = w[j] - 0.1*g.Value[j]
		}
		w = next
	}
	return w, nil
}

func count[T any](ctx context.Context, d dataset.Dataset[T], keep func(T) bool, epsilon privacy.Epsilon) (int64, error) {
	n, err := dataset.NoisyCount(ctx, noise.System(), dataset.Where(d, keep), dataset.Options{Epsilon: epsilon})
	if err != nil {
		return 0, err
	}
	return n.Value, nil
}

// AskGeneric uses a generic helper, three times.
//
// want: accepted: 3*epsilon
//
//dp:adjacent bag(d) <= 1
//dp:cost 3 * epsilon
func AskGeneric(ctx context.Context, d dataset.Dataset[person], epsilon privacy.Epsilon) (counts [3]int64, err error) {
	if counts[0], err = count(ctx, d, func(p person) bool { return p.age < 18 }, epsilon); err != nil {
		return counts, err
	}
	if counts[1], err = count(ctx, d, func(p person) bool { return p.age < 65 }, epsilon); err != nil {
		return counts, err
	}
	counts[2], err = count(ctx, d, func(p person) bool { return p.female }, epsilon)
	return counts, err
}

// AskRounds asks in each of k rounds.
//
// want: accepted: epsilon*k
//
//dp:adjacent bag(d) <= 1
//dp:requires k >= 0
//dp:cost float64(k) * epsilon
func AskRounds(ctx context.Context, d dataset.Dataset[float64], k int, lo, hi float64, epsilon privacy.Epsilon) (float64, error) {
	o := dataset.SumOptions{Options: dataset.Options{Epsilon: epsilon}, Lower: -1, Upper: 1}
	for i := 0; i < k; i++ {
		mid := (lo + hi) / 2
		sign, err := dataset.NoisySum(ctx, noise.System(), d, func(x float64) float64 {
			if x < mid {
				return -1
			}
			return 1
		}, o)
		if err != nil {
			return 0, err
		}
		if sign.Value < 0 {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo, nil
}

// Ask is a method.
//
// want: accepted: 2*epsilon
//
//dp:adjacent bag(s.data) <= 1
//dp:cost 2 * epsilon
func (s *session) Ask(ctx context.Context, epsilon privacy.Epsilon) (adults, children int64, err error) {
	o := dataset.Options{Epsilon: epsilon}
	a, err := dataset.NoisyCount(ctx, s.bits, dataset.Where(s.data, func(p person) bool { return p.age >= 18 }), o)
	if err != nil {
		return 0, 0, err
	}
	c, err := dataset.NoisyCount(ctx, s.bits, dataset.Where(s.data, func(p person) bool { return p.age < 18 }), o)
	if err != nil {
		return 0, 0, err
	}
	return a.Value, c.Value, nil
}
