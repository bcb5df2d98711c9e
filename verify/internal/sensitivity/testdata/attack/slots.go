package attack

// PutOver: w[j] may be w[i].
//
// want: rejected
//
//dp:sensitivity x = 0
func PutOver(x float64, j int) float64 {
	w := make([]float64, 3)
	s := 0.0
	for i := range w {
		w[i] = 0
		w[j] = x
		s += w[i]
	}
	return s
}

// PutOverAt: w[1] is w[i] in the second round.
//
// want: rejected
//
//dp:sensitivity x = 0
func PutOverAt(x float64) float64 {
	w := make([]float64, 3)
	s := 0.0
	for i := range w {
		w[i] = 0
		w[1] = x
		s += w[i]
	}
	return s
}

// AddedTo: w[1] is w[i] in the second round.
//
// want: rejected
//
//dp:sensitivity x = 0
func AddedTo(x float64) float64 {
	w := make([]float64, 3)
	s := 0.0
	for i := range w {
		w[i] = 0
		w[1] += x
		s += w[i]
	}
	return s
}

// PutOverKey: a may be the key of a round.
//
// want: rejected
//
//dp:sensitivity x = 0
func PutOverKey(x float64, m map[string]bool) float64 {
	w := map[string]float64{}
	s := 0.0
	for k := range m {
		w[k] = 0
		w["a"] = x
		s += w[k]
	}
	return s
}

// PutTogether: the second is set last.
//
// want: rejected
//
//dp:sensitivity x = 0
func PutTogether(x float64) float64 {
	w := make([]float64, 3)
	s := 0.0
	for i := range w {
		w[i], w[1] = 0, x
		s += w[i]
	}
	return s
}

// PutOverMaybe: w[1] is w[i] in the second round.
//
// want: rejected
//
//dp:sensitivity x = 0
func PutOverMaybe(x float64, c bool) float64 {
	w := make([]float64, 3)
	s := 0.0
	for i := range w {
		w[i] = 0
		if c {
			w[1] = x
		}
		s += w[i]
	}
	return s
}

// PutOnFull: a record that comes makes 5 of 100.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 5
func PutOnFull(rows []int, pub map[int]bool) map[int]int {
	w := map[int]int{}
	for k := range pub {
		w[k] = 100
	}
	for _, r := range rows {
		w[r] = 5
	}
	return w
}

// PutOnSums: a record that comes makes 5 of 100.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 5
func PutOnSums(rows []int, pub []int) map[int]int {
	w := map[int]int{}
	for i := range pub {
		w[i] += 100
	}
	for _, r := range rows {
		w[r] = 5
	}
	return w
}

// PutOnLater: what a round puts at the end is there in the next.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 15
func PutOnLater(rows []int) map[int]int {
	w := map[int]int{}
	for t := range 3 {
		for _, r := range rows {
			w[r] = 5
		}
		w[t] = 100
	}
	return w
}

// PutOnKeys: what a round puts at the end is there in the next.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 15
func PutOnKeys(rows []int, keys []int) map[int]int {
	w := map[int]int{}
	for t := range 3 {
		for _, r := range rows {
			w[r] = 5
		}
		w[keys[t]] = 100
	}
	return w
}

// PutOnEarlier: what earlier rounds put is there.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 15
func PutOnEarlier(rows []int) map[int]int {
	w := map[int]int{}
	for t := range 3 {
		w[t] = 100
		for _, r := range rows {
			w[r] = 5
		}
	}
	return w
}

// PutOnEither: w[4] may be 100.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 5
func PutOnEither(rows []int, c bool, k int) map[int]int {
	w := map[int]int{}
	if c {
		w[4] = k
	} else {
		w[3] = 5
	}
	for _, r := range rows {
		w[r] = 5
	}
	return w
}

// PutOnBoth: w[4] may be 100.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 5
func PutOnBoth(rows []int, c bool, k int) map[int]int {
	w := map[int]int{}
	w[3] = 5
	w[4] = k
	for _, r := range rows {
		w[r] = 5
	}
	return w
}

type heldMap struct{ m map[int]int }

// PutOnField: a record that comes makes 1 of 100.
//
// want: rejected
//
//dp:adjacent bag(rows) <= 1
//dp:sensitivity rows = 1
func PutOnField(rows []int) map[int]int {
	h := heldMap{map[int]int{}}
	for i := range 4 {
		h.m[i] = 100
	}
	for _, r := range rows {
		h.m[r] = 1
	}
	return h.m
}
