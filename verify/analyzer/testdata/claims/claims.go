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
//dp:adjacent each(scores) <= 1
//dp:requires eps > 0
//dp:cost eps/2
func Stale(scores []float64, eps float64, src *noise.Source) int { // want `Stale: the stored proof is of an older function or claim \(run discreet verify\)`
	if len(scores) == 0 {
		return -1
	}
	return src.Choose(scores, eps/2)
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
//dp:adjacent |x| <= 1
//dp:requires eps > 0
//dp:cost eps
func Missing(x int64, eps float64, src *noise.Source) int64 { // want `Missing: no proof is stored \(run discreet verify\)`
	return x + src.DiscreteLaplace(1/eps)
}

type kernel struct{ eps float64 }

// Draw is a method.
//
//dp:adjacent |x| <= 1
//dp:requires k.eps > 0
//dp:cost k.eps
func (k *kernel) Draw(x int64, src *noise.Source) int64 { // want `kernel.Draw: no proof is stored`
	return x + src.DiscreteLaplace(1/k.eps)
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
//dp:adjacent |x| <= 1 // want `a function without a claim`
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
