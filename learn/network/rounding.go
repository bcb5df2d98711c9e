package network

// Rounding bounds what rounding adds to the sum that [Pass.Clipped] computes for
// n examples: it is within Rounding(n) times the clipping bound of the exact sum,
// in Euclidean norm. So the sums of neighbouring data, of at most n examples
// each, differ by at most 1 + 2*Rounding(n) clipping bounds; whoever calibrates
// noise counts that in.
//
// However floating-point numbers are added up, two at a time, the result is off by
// at most the sum of u|s| over all sums s that come up on the way, u = 2^-24 (Higham
// 2002, section 4.2). A sum of i examples is at most i bounds, so m examples are off
// by at most u (2+3+...+m) bounds: adding them one after the other is the worst. A
// product may round before it is added, which is u each. Together this is at most
// u m (m+3)/2, for the chunks of c examples altogether u n (c+3)/2; then the chunks
// of a worker are added up, and the workers, in the same way. An example of t terms
// counts t times; they may cancel, and what comes up on the way is then at most
// massBound bounds: only layers with ghost norms over several positions add up such
// terms.
func (p *Pass) Rounding(n int) float64 {
	const u = 0x1p-24
	workers := len(p.workers)
	each := (n + workers - 1) / workers
	chunks := (each + p.batch - 1) / p.batch
	mass, terms := 1.0, 1
	for _, l := range p.workers[0].learn {
		if t := positions(l); t > 1 {
			mass, terms = massBound, max(terms, t)
		}
	}
	k := float64(terms*(min(p.batch, each)+3)+chunks+1+workers+1) / 2 * u
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
