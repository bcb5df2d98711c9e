package attack

type split struct {
	a, b float64
	k    int
}

// TogetherAtBound counts what is 10 twice.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TogetherAtBound(rows []split) (a, b int) {
	for _, r := range rows {
		if r.a >= 0 && r.a <= 10 {
			a++
		}
		if r.a >= 10 && r.a < 20 {
			b++
		}
	}
	return a, b
}

// TogetherInFields tests two fields.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TogetherInFields(rows []split) (a, b int) {
	for _, r := range rows {
		if r.a > 0 {
			a++
		}
		if r.b <= 0 {
			b++
		}
	}
	return a, b
}

// TogetherBetween counts twice what is between two bounds, if they are the other way round.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TogetherBetween(rows []split, t, u float64) (a, b int) {
	for _, r := range rows {
		if r.a > t {
			a++
		}
		if r.a < u {
			b++
		}
	}
	return a, b
}

// TogetherSetAgain tests two numbers by one name.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TogetherSetAgain(rows []split, t float64) (a, b int) {
	for _, r := range rows {
		x := r.a
		if x > t {
			a++
		}
		x = r.b
		if x <= t {
			b++
		}
	}
	return a, b
}

// TogetherInElse adds twice behind the first test.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TogetherInElse(rows []split, t float64) (a, b, c int) {
	for _, r := range rows {
		if r.a > t {
			c++
		} else {
			a++
		}
		if r.a <= t {
			b++
		}
	}
	return a, b, c
}

// TogetherInRounds tests another element.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func TogetherInRounds(rows [][3]float64) (a, b int) {
	for _, r := range rows {
		for j := range 2 {
			if r[j] > 0 {
				a++
			}
			if r[2] <= 0 {
				b++
			}
		}
	}
	return a, b
}

// TogetherOverRounds tests with other thresholds in each round.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 2
func TogetherOverRounds(rows []split) (a, b int) {
	for _, r := range rows {
		for j := range 2 {
			if r.a > float64(j) {
				a++
			}
		}
		for j := range 2 {
			if r.a <= float64(2*j) {
				b++
			}
		}
	}
	return a, b
}

// TogetherUnequal is of tests that most pass both.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func TogetherUnequal(rows []split) (a, b int) {
	for _, r := range rows {
		if r.k != 0 {
			a++
		}
		if r.k != 1 {
			b++
		}
	}
	return a, b
}
