package fresh

import "github.com/discreet-dp/discreet/noise"

// HowManyTrue counts the truths, of which one may be another.
//
// want: proved
//
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func HowManyTrue(bits []bool, eps float64, src *noise.Source) int64 {
	var n int64
	for _, b := range bits {
		if b {
			n++
		}
	}
	return n + src.DiscreteLaplace(1/eps)
}

// Majority counts up and down: one truth moves it by two.
//
// want: refuted
//
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func Majority(bits []bool, eps float64, src *noise.Source) int64 {
	var n int64
	for _, b := range bits {
		if b {
			n++
		} else {
			n--
		}
	}
	return n + src.DiscreteLaplace(1/eps)
}

// AllMayChange pays for one truth where all may be others.
//
// want: refuted
//
//dp:adjacent each(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func AllMayChange(bits []bool, eps float64, src *noise.Source) int64 {
	var n int64
	for _, b := range bits {
		if b {
			n++
		}
	}
	return n + src.DiscreteLaplace(1/eps)
}

// FirstTrue tells where the first truth is.
//
// want: refuted
//
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func FirstTrue(bits []bool, eps float64, src *noise.Source) int {
	for i, b := range bits {
		if b {
			return i
		}
	}
	return len(bits) + int(src.DiscreteLaplace(1/eps))
}

// SameNeighboursOnce counts the truths that the one before them agrees with, and pays for one of
// the two pairs that a truth is in.
//
// want: refuted
//
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func SameNeighboursOnce(bits []bool, eps float64, src *noise.Source) int64 {
	var n int64
	for i := 1; i < len(bits); i++ {
		if bits[i] == bits[i-1] {
			n++
		}
	}
	return n + src.DiscreteLaplace(1/eps)
}

// UntilMany is the first place where a noisy count of truths passes t.
//
// want: proved
//
//dp:adjacent one(bits) <= 1
//dp:requires eps > 0
//dp:cost eps
func UntilMany(bits []bool, t, eps float64, src *noise.Source) int {
	t += src.Laplace(2 / eps)
	n := 0.0
	for i, b := range bits {
		if b {
			n++
		}
		if n+src.Laplace(4/eps) >= t {
			return i
		}
	}
	return -1
}

// WorkingAge counts those of an age and adds their ages up; one person may be anybody else.
//
// want: proved
//
//dp:adjacent one(ages) <= 120
//dp:requires eps > 0
//dp:cost 2*eps
func WorkingAge(ages []float64, eps float64, src *noise.Source) (count, sum float64) {
	for _, a := range ages {
		if a >= 18 && a <= 65 {
			count++
			sum += a
		}
	}
	return count + src.Laplace(1/eps), sum + src.Laplace(65/eps)
}

// WorkingAgeWidth takes the width of the range for the bound of what is added.
//
// want: refuted
//
//dp:adjacent one(ages) <= 120
//dp:requires eps > 0
//dp:cost 2*eps
func WorkingAgeWidth(ages []float64, eps float64, src *noise.Source) (count, sum float64) {
	for _, a := range ages {
		if a >= 18 && a <= 65 {
			count++
			sum += a
		}
	}
	return count + src.Laplace(1/eps), sum + src.Laplace(47/eps)
}

// YoungAndOld is a histogram of two cells, where one person may move from one to the other.
//
// want: proved
//
//dp:adjacent one(ages) <= 120
//dp:requires eps > 0
//dp:cost eps
func YoungAndOld(ages []int64, eps float64, src *noise.Source) []int64 {
	var young, old int64
	for _, a := range ages {
		if a < 40 {
			young++
		} else {
			old++
		}
	}
	return []int64{young + src.DiscreteLaplace(2/eps), old + src.DiscreteLaplace(2/eps)}
}

// YoungAndOldOnce pays for one cell.
//
// want: refuted
//
//dp:adjacent one(ages) <= 120
//dp:requires eps > 0
//dp:cost eps
func YoungAndOldOnce(ages []int64, eps float64, src *noise.Source) []int64 {
	var young, old int64
	for _, a := range ages {
		if a < 40 {
			young++
		} else {
			old++
		}
	}
	return []int64{young + src.DiscreteLaplace(1/eps), old + src.DiscreteLaplace(1/eps)}
}
