package local

import (
	"fmt"
	"strings"
)

// best is the protocol whose raw shares of rare values have the least variance, by k and ε alone:
// nothing of the data decides. Of equals it is the first one. Protocols with public hash functions
// are left out: they are for values that nobody can list.
func best(o FrequencyOptions) (Protocol, string, error) {
	type candidate struct {
		protocol Protocol
		variance float64
	}
	var all []candidate
	at := 0
	for _, p := range []Protocol{GRR, Hadamard, OLH, OUE, SUE, THE, SHE, Subset} {
		if p == OLH && checkHashed(p, o.Epsilon) != nil {
			continue
		}
		o.Protocol = p
		f, err := NewFrequency(o)
		if err != nil {
			return "", "", err
		}
		all = append(all, candidate{p, f.Variance(0)})
		if all[len(all)-1].variance < all[at].variance*(1-1e-9) {
			at = len(all) - 1
		}
	}
	var others []string
	for i, c := range all {
		if i != at {
			others = append(others, fmt.Sprintf("%s %.4g", c.protocol, c.variance))
		}
	}
	return all[at].protocol, fmt.Sprintf("%s has the least variance of a report for %d values at epsilon %v: %.4g (%s)",
		all[at].protocol, o.Values, o.Epsilon, all[at].variance, strings.Join(others, ", ")), nil
}
