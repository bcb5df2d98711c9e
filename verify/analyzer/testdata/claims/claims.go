package claims // want `a proof is stored for Renamed, which claims nothing`

import "github.com/discreet-dp/discreet/noise"

// Proved has a proof that holds.
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps
func Proved(scores []float64, eps float64, src *noise.Source) int {
	if len(scores) == 0 {
		return -1
	}
	return src.Choose(scores, eps)
}

// Stale has that of Proved.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Stale(q []int64, t int64, eps float64, src *noise.Source) int { // want `Stale: the stored proof is of an older function or claim \(run discreet verify\)`
	t += src.DiscreteLaplace(2 / eps)
	for i, x := range q {
		if x+src.DiscreteLaplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// Wrong has that of Proved, and the hash of its own.
//
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps/2
func Wrong(scores []float64, eps float64, src *noise.Source) int { // want `Wrong: the stored proof does not prove the claim: `
	if len(scores) == 0 {
		return -1
	}
	return src.Choose(scores, eps)
}

// Missing has none.
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func Missing(q []int64, t int64, eps float64, src *noise.Source) bool { // want `Missing: no proof is stored \(run discreet verify\)`
	t += src.DiscreteLaplace(2 / eps)
	for _, x := range q {
		if x+src.DiscreteLaplace(4/eps) >= t {
			return true
		}
	}
	return false
}

type kernel struct{ eps float64 }

// Draw needs no stored proof: the rules of cost decide.
//
//dp:adjacent |x| <= 1
//dp:requires k.eps > 0
//dp:cost k.eps
func (k *kernel) Draw(x int64, src *noise.Source) int64 {
	return x + src.DiscreteLaplace(1/k.eps)
}

// Past shows nothing, and panics where x is past the end: rules of cost speak of runs that end.
//
//dp:adjacent |x| <= 1
//dp:cost 0
func Past(x int, q []float64, src *noise.Source) int { // want `Past: no proof is stored`
	_ = q[x]
	return 0
}

// Outside does what proofs do not speak of.
//
//dp:adjacent |x| <= 1
//dp:cost 1
func Outside(x int64, src *noise.Source) int64 {
	go func() {}() // want `a goroutine: `
	return x + src.DiscreteLaplace(1)
}

// Misspelt has a directive that says nothing.
//
//dp:adjacent |x| <= 1
//dp:cots 1 // want `directive //dp:cots: there is no such directive .*cost`
func Misspelt(x int64, src *noise.Source) int64 {
	return x + src.DiscreteLaplace(1)
}

// Nobody claims the cost of a private input.
//
//dp:adjacent |x| <= 1
//dp:cost y // want `y`
func Nobody(x int64, src *noise.Source) int64 {
	return x + src.DiscreteLaplace(1)
}

func silent() {
	//dp:invariant true // want `it speaks of nothing here`
	_ = silent
}

// Total moves by one for each unit by which xs do.
//
//dp:adjacent one(xs) <= 1
//dp:sensitivity xs = 1
func Total(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

// Twice moves by two.
//
//dp:adjacent one(xs) <= 1
//dp:sensitivity xs = 1
func Twice(xs []float64) float64 { // want `Twice: the sensitivity to xs is at most 2, which is not known to be at most 1`
	sum := 0.0
	for _, x := range xs {
		sum += 2 * x
	}
	return sum
}
