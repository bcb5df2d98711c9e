package fresh

import "github.com/discreet-dp/discreet/noise"

// SpentShares spends its budget in parts of eps.
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SpentShares(q []float64, t, eps float64, src *noise.Source) []bool {
	var out []bool
	t += src.Laplace(4 / eps)
	spent := eps / 4
	for _, x := range q {
		if spent+eps/4 > eps {
			break
		}
		if x+src.Laplace(8/eps) >= t {
			out = append(out, true)
			spent += eps / 4
		} else {
			out = append(out, false)
		}
	}
	return out
}

// SpentHalf writes down half of what it spends.
//
// want: refuted
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0
//dp:cost eps
func SpentHalf(q []float64, t, eps float64, src *noise.Source) []bool {
	var out []bool
	t += src.Laplace(4 / eps)
	spent := eps / 4
	for _, x := range q {
		if spent+eps/8 > eps {
			break
		}
		if x+src.Laplace(8/eps) >= t {
			out = append(out, true)
			spent += eps / 8
		} else {
			out = append(out, false)
		}
	}
	return out
}

// SpentGaps pays for gaps, and half for those of large ones (Ding, Wang, Zhang and Kifer 2019).
//
// want: proved
//
//dp:adjacent each(q) <= 1
//dp:requires eps > 0 && sigma > 0
//dp:cost eps
func SpentGaps(q []float64, t, sigma, eps float64, src *noise.Source) []float64 {
	var out []float64
	e0 := eps / 4
	t += src.Laplace(1 / e0)
	spent := e0
	for _, x := range q {
		if spent+eps/4 > eps {
			break
		}
		big := x + src.Laplace(16/eps) - t
		small := x + src.Laplace(8/eps) - t
		if big >= sigma {
			out = append(out, big)
			spent += eps / 8
		} else if small >= 0 {
			out = append(out, small)
			spent += eps / 4
		} else {
			out = append(out, 0)
		}
	}
	return out
}
