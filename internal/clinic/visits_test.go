package clinic

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"
)

// The data set never changes by itself: a new generator or a new Go that draws
// otherwise shows here.
func TestVisitsAreAlwaysTheSame(t *testing.T) {
	visits := Visits()
	h := sha256.New()
	for _, v := range visits[:1000] {
		fmt.Fprintf(h, "%d %s %d %s %s %.2f\n", v.Patient, v.Department, v.Age, v.Sex, v.SeenAt.Format(time.DateTime), v.Cost)
	}
	const want = "1ef5bfca73507a6e"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:8]); got != want {
		t.Errorf("the first thousand visits have the hash %s, want %s; the first is %v", got, want, visits[0])
	}
	if !slices.IsSortedFunc(visits, func(a, b Visit) int {
		return cmp.Or(a.SeenAt.Compare(b.SeenAt), cmp.Compare(a.Patient, b.Patient))
	}) {
		t.Error("the visits are not in the order of time")
	}
	if !slices.Equal(visits, Visits()) {
		t.Error("two calls give different visits")
	}
}

func TestVisitsArePlausible(t *testing.T) {
	visits := Visits()
	type person struct {
		age int32
		sex string
	}
	var (
		people                     = map[int64]person{}
		perPatient                 = map[int64]int{}
		perGroup                   = map[[2]any]int{} // patient and department
		perMonth                   = map[[2]any]int{} // patient and month
		months                     = map[int64]int{}
		costs                      = map[string][]float64{}
		weekend, unbilled, ageless int
		above                      int
	)
	for i, v := range visits {
		if v.SeenAt.Year() != 2025 || v.SeenAt.Second() != 0 {
			t.Fatalf("visit %d was at %v", i, v.SeenAt)
		}
		if i > 0 && v.SeenAt.Before(visits[i-1].SeenAt) {
			t.Fatalf("visit %d is out of order", i)
		}
		p := person{v.Age, v.Sex}
		if q, ok := people[v.Patient]; ok && p != q {
			t.Fatalf("patient %d is %v and %v", v.Patient, p, q)
		}
		people[v.Patient] = p
		perPatient[v.Patient]++
		perGroup[[2]any{v.Patient, v.Department}]++
		month := [2]any{v.Patient, v.SeenAt.Month()}
		if perMonth[month] == 0 {
			months[v.Patient]++
		}
		perMonth[month]++
		if d := v.SeenAt.Weekday(); d == time.Saturday || d == time.Sunday {
			weekend++
		}
		switch {
		case v.Cost == Missing:
			unbilled++
		case v.Cost > 3000:
			above++
			fallthrough
		default:
			costs[v.Department] = append(costs[v.Department], v.Cost)
		}
		if v.Age == Missing {
			ageless++
		}
	}

	if len(visits) != Count || len(people) != Patients {
		t.Errorf("%d visits of %d patients, want %d of %d", len(visits), len(people), Count, Patients)
	}
	between := func(what string, x, lo, hi float64) {
		t.Helper()
		t.Logf("%s: %.4g", what, x)
		if x < lo || x > hi {
			t.Errorf("%s: %.4g, want between %g and %g", what, x, lo, hi)
		}
	}
	share := func(n int) float64 { return float64(n) / Count }
	between("weekend", share(weekend), 0.08, 0.2)
	between("visits without a bill", share(unbilled), 0.008, 0.012)
	between("visits without an age", share(ageless), 0.002, 0.008)
	between("bills above the catalog's bound", share(above), 0.0005, 0.02)

	// The tail that the catalog's bounds (12 groups, 12 rows in each) cut: more
	// than none, and not so much that the answers mean little.
	var counts []int
	for _, n := range perPatient {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	between("median visits a patient", float64(counts[Patients/2]), 4, 9)
	between("visits of the most frequent patient", float64(counts[Patients-1]), 60, 366)
	lost := func(per map[[2]any]int) (n int) {
		for _, c := range per {
			n += max(0, c-12)
		}
		return n
	}
	between("visits beyond 12 a patient and department", share(lost(perGroup)), 0.01, 0.06)
	between("visits beyond 12 a patient and month", share(lost(perMonth)), 0, 0.01)
	many := 0
	for _, n := range months {
		if n > 8 {
			many++
		}
	}
	between("patients in more than 8 months", float64(many)/Patients, 0.01, 0.5)

	if len(costs) != len(departments()) {
		t.Errorf("%d departments were visited", len(costs))
	}
	for name, c := range costs {
		slices.Sort(c)
		t.Logf("%-12s %6d visits, median cost %7.2f, 99%% %8.2f", name, len(c), c[len(c)/2], c[len(c)*99/100])
		if len(c) < 1000 {
			t.Errorf("%s has %d visits", name, len(c))
		}
	}
}
