package ratio

// Programs with uniform draws below numbers of any size.
var uniforms = []specimen{
	{"one of k answers, out of range is any", `
//dp:adjacent |x| <= 1000000
//dp:requires 0 < h && h < 1 && k >= 2
//dp:cost math.Log(1 + float64(k)*h/(1-h))
func f(x, k int, h float64, src *noise.Source) int {
	honest := src.Bernoulli(h)
	other := src.Uniform(k)
	if honest && x >= 0 && x < k {
		return x
	}
	return other
}`, "math.Log((1 + h*k - h)/(1 - h))", ""},
	{"one of k answers, out of range is told", `
//dp:adjacent |x| <= 1000000
//dp:requires 0 < h && h < 1 && k >= 2
//dp:cost math.Log(1 + float64(k)*h/(1-h))
func f(x, k int, h float64, src *noise.Source) int {
	honest := src.Bernoulli(h)
	other := src.Uniform(k)
	if honest && x < k {
		return x
	}
	return other
}`, "", "impossible for their neighbours"},
	{"one of k answers at eps", `
//dp:adjacent |x| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= x && x < k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli((math.Exp(eps)-1) / (math.Exp(eps)+float64(k)-1)) {
		return x
	}
	return src.Uniform(k)
}`, "eps", ""},
	{"a lie is another answer", `
//dp:adjacent |x| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= x && x < k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(eps) / (math.Exp(eps)+float64(k)-1)) {
		return x
	}
	lie := src.Uniform(k-1)
	if lie >= x {
		lie++
	}
	return lie
}`, "eps", ""},
	{"a lie may be the truth, which is told too often", `
//dp:adjacent |x| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= x && x < k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(eps) / (math.Exp(eps)+float64(k)-1)) {
		return x
	}
	return src.Uniform(k)
}`, "", "least cost"},
	{"a lie that passes over the wrong answer", `
//dp:adjacent |x| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= x && x < k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli(math.Exp(eps) / (math.Exp(eps)+float64(k)-1)) {
		return x
	}
	lie := src.Uniform(k-1)
	if lie > x {
		lie++
	}
	return lie
}`, "", "impossible for their neighbours"},
	{"a lie among too few", `
//dp:adjacent |x| <= k
//dp:requires eps > 0 && k >= 2 && 0 <= x && x < k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	if src.Bernoulli((math.Exp(eps)-1) / (math.Exp(eps)+float64(k)-1)) {
		return x
	}
	return src.Uniform(k-1)
}`, "", "impossible for their neighbours"},
	{"neighbours next to each other only, which costs no less", `
//dp:adjacent |x| <= 1
//dp:requires eps > 0 && k >= 2 && 0 <= x && x < k
//dp:cost eps
func f(x, k int, eps float64, src *noise.Source) int {
	lie := src.Uniform(k)
	if src.Bernoulli((math.Exp(eps)-1) / (math.Exp(eps)+float64(k)-1)) {
		lie = x
	}
	return 2*k - lie
}`, "eps", ""},
	{"every person of a list", `
//dp:adjacent one(xs) <= 1000
//dp:requires 0 < h && h < 1 && k >= 2
//dp:cost math.Log(1 + float64(k)*h/(1-h))
func f(xs []int, k int, h float64, src *noise.Source) []int {
	var out []int
	for _, x := range xs {
		honest := src.Bernoulli(h)
		y := src.Uniform(k)
		if honest && x >= 0 && x < k {
			y = x
		}
		out = append(out, y)
	}
	return out
}`, "math.Log((1 + h*k - h)/(1 - h))", ""},
	{"each of them at the price of one", `
//dp:adjacent each(xs) <= 1000
//dp:requires 0 < h && h < 1 && k >= 2
//dp:cost math.Log(1 + float64(k)*h/(1-h))
func f(xs []int, k int, h float64, src *noise.Source) []int {
	var out []int
	for _, x := range xs {
		honest := src.Bernoulli(h)
		y := src.Uniform(k)
		if honest && x >= 0 && x < k {
			y = x
		}
		out = append(out, y)
	}
	return out
}`, "", "not shown to be at most"},
	{"a range that is private", `
//dp:adjacent |x| <= 5
//dp:requires x > 0
//dp:cost math.Log(6)
func f(x int, src *noise.Source) int {
	return src.Uniform(x)
}`, "", "depends on private data"},
	{"a coin that depends on what was drawn", `
//dp:adjacent |x| <= 5
//dp:requires k >= 2 && 0 <= x && x < k
//dp:cost math.Log(2)
func f(x, k int, src *noise.Source) int {
	u := src.Uniform(k)
	if src.Bernoulli((1 + float64(u)) / (1 + float64(k))) && x > 0 {
		return 0
	}
	return 1
}`, "", "depends on private data"},
	{"a sum of two draws", `
//dp:adjacent |x| <= 5
//dp:requires k >= 2 && 0 <= x && x < k
//dp:cost 9
func f(x, k int, src *noise.Source) int {
	if src.Bernoulli(0.5) {
		return x
	}
	return src.Uniform(k) + src.Uniform(k)
}`, "", "x is revealed, and depends on private data"},
	{"a draw that nothing depends on", `
//dp:adjacent |x| <= 5
//dp:requires k >= 2 && 0 <= x && x <= 1
//dp:cost math.Log(3)
func f(x, k int, src *noise.Source) int {
	idle := src.Uniform(k)
	u := src.Uniform(2)
	if src.Bernoulli(0.5) {
		u = x
	}
	return u + 0*idle
}`, "math.Log(3)", ""},
	{"one of three answers", `
//dp:adjacent |x| <= 2
//dp:requires 0 <= x && x <= 2
//dp:cost math.Log(4)
func f(x int, src *noise.Source) int {
	u := src.Uniform(3)
	if src.Bernoulli(0.5) {
		return x
	}
	return u
}`, "math.Log(4)", ""},
	{"one of three answers, counted too low", `
//dp:adjacent |x| <= 2
//dp:requires 0 <= x && x <= 2
//dp:cost math.Log(3.99)
func f(x int, src *noise.Source) int {
	u := src.Uniform(3)
	if src.Bernoulli(0.5) {
		return x
	}
	return u
}`, "", "least cost"},
	{"whether a draw is below what is private", `
//dp:adjacent |x| <= 1
//dp:requires 1 <= x && x <= 2
//dp:cost math.Log(2)
func f(x int, src *noise.Source) bool {
	return src.Uniform(3) < x
}`, "math.Log(2)", ""},
}
