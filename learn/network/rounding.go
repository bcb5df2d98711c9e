package network

// Rounding bounds what rounding adds to the sum that [Pass.Clipped] computes for
// n examples: it is within Rounding(n) times the clipping bound of the exact sum,
// in Euclidean norm. So the sums of neighbouring data, of at most n examples
// each, differ by at most 1 + 2*Rounding(n) clipping bounds; whoever calibrates
// noise counts that in.
//
// A sum of float32 terms v_k one after the other is wrong by at most the sum of
// u|p_k| over its partial sums p_k, with u = 2^-24 and one rounding for each
// product and each addition. Within a chunk of c examples, each of which adds at
// most one bound, partial sums are at most c bounds and every number goes through
// at most 2c roundings; the chunks of a worker and the workers' sums add one
// rounding each. An example whose terms cancel counts massBound times, which only
// layers with ghost norms over several positions allow.
func (p *Pass) Rounding(n int) float64 {
	const u = 0x1p-24
	workers := len(p.workers)
	each := (n + workers - 1) / workers
	chunks := (each + p.batch - 1) / p.batch
	mass, terms := 1.0, 2*min(p.batch, each)
	for _, l := range p.workers[0].learn {
		if t := positions(l); t > 1 {
			mass, terms = massBound, max(terms, 2*t*min(p.batch, each))
		}
	}
	k := float64(terms+chunks+workers) * u
	if k >= 0.5 {
		return float64(n) * mass // no bound worth the name
	}
	return k / (1 - k) * float64(n) * mass
}

// positions is the number of terms an example adds to a sum over examples.
func positions(l learner) int {
	if s, ok := l.(interface{ ghosts() int }); ok {
		return s.ghosts()
	}
	return 1
}
