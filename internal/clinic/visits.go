package clinic

import (
	"math"
	"math/rand/v2" // the data is synthetic; see the package comment
	"slices"
	"sort"
	"time"
)

// The size of the data set.
const (
	Patients = 20_000
	Count    = 200_000 // visits
)

// Missing stands for an age or a cost that nobody wrote down; a missing text is
// the empty one.
const Missing = -1

// A Visit is one row. Age and sex are the patient's, the same in every visit.
type Visit struct {
	Patient    int64
	Department string
	Age        int32 // years, or Missing
	Sex        string
	SeenAt     time.Time // to the minute
	Cost       float64   // to the cent, or Missing
}

// A department says who comes, when, and at what cost.
type department struct {
	name       string
	share      float64 // of the visits of a patient of 40
	perDecade  float64 // factor on the share for each ten years above 40
	cost       float64 // median
	spread     float64 // of the cost's logarithm
	winter     float64 // how much more in January than on average
	alwaysOpen bool
}

func departments() []department {
	return []department{
		{"Cardiology", 0.08, 1.45, 260, 0.70, 0.10, false},
		{"ER", 0.15, 1.05, 310, 0.85, 0.10, true},
		{"General", 0.34, 1.00, 85, 0.45, 0.25, false},
		{"ICU", 0.01, 1.35, 1700, 0.40, 0.15, true},
		{"Oncology", 0.05, 1.40, 620, 0.75, 0, false},
		{"Orthopedics", 0.14, 1.15, 240, 0.60, 0.05, false},
		{"Pediatrics", 0.02, 0, 95, 0.45, 0.30, false}, // up to 17 years: see weights
		{"Surgery", 0.07, 1.15, 900, 0.55, -0.05, false},
	}
}

// weights are the shares of the departments for a patient of the given age.
func weights(all []department, age int32) []float64 {
	w := make([]float64, len(all))
	for i, d := range all {
		w[i] = d.share * math.Pow(d.perDecade, float64(age-40)/10)
		if d.perDecade == 0 {
			w[i] = 0
			if age < 18 {
				w[i] = 0.9
			}
		}
	}
	return w
}

// Visits returns all rows in the order of time, always the same.
func Visits() []Visit {
	r := rand.New(rand.NewPCG(2025, 20_000))
	all := departments()
	days := make([]chooser, len(all))
	for i, d := range all {
		days[i] = calendar(d)
	}

	type person struct {
		age         int32
		sex         string
		departments chooser
	}
	people := make([]person, Patients)
	frequency := make([]float64, Patients)
	for i := range people {
		p := person{age: age(r), sex: sex(r)}
		w := weights(all, p.age)
		// Two departments know this patient well, the others hardly.
		habit := choose(w)
		for range 2 {
			w[habit.draw(r)] += 0.7
		}
		p.departments = choose(w)
		people[i] = p
		frequency[i] = math.Exp(0.7*r.NormFloat64() + 0.01*float64(p.age))
	}

	visits := make([]Visit, 0, Count)
	visit := func(i int) {
		p := &people[i]
		d := p.departments.draw(r)
		v := Visit{
			Patient:    int64(100_000 + i),
			Department: all[d].name,
			Age:        p.age,
			Sex:        p.sex,
			SeenAt:     time.Date(2025, 1, 1+days[d].draw(r), 0, minute(r, all[d].alwaysOpen), 0, 0, time.UTC),
			Cost:       cost(r, all[d], p.age),
		}
		visits = append(visits, v)
	}
	for i := range people { // everybody came once
		visit(i)
	}
	for again := choose(frequency); len(visits) < Count; {
		visit(again.draw(r))
	}

	// What the front desk forgot: a patient's age or sex for good, or a bill.
	for i := range people {
		if r.Float64() < 0.004 {
			people[i].age = Missing
		}
		if r.Float64() < 0.004 {
			people[i].sex = ""
		}
	}
	for i := range visits {
		v := &visits[i]
		p := &people[v.Patient-100_000]
		v.Age, v.Sex = p.age, p.sex
		if r.Float64() < 0.01 {
			v.Cost = Missing
		}
	}
	return byTime(visits)
}

// byTime sorts visits by their minute, those of a minute by patient, and a patient's as they
// came. One number is all three: a stable sort of them is most of the time in which visits are made.
func byTime(visits []Visit) []Visit {
	const bits = 20 // each of the three has at most so many
	newYear := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	places := make([]int64, len(visits))
	for i, v := range visits {
		places[i] = (v.SeenAt.Unix()-newYear)/60<<(2*bits) | (v.Patient-100_000)<<bits | int64(i)
	}
	slices.Sort(places)
	sorted := make([]Visit, len(visits))
	for i, place := range places {
		sorted[i] = visits[place&(1<<bits-1)]
	}
	return sorted
}

// age is a clinic's: children, few between 20 and 40, many over 60.
func age(r *rand.Rand) int32 {
	centre, width := 64.0, 14.0
	switch x := r.Float64(); {
	case x < 0.16:
		return int32(r.IntN(18))
	case x < 0.55:
		centre, width = 41, 13
	}
	for {
		if a := centre + width*r.NormFloat64(); a >= 18 && a < 103 {
			return int32(a)
		}
	}
}

func sex(r *rand.Rand) string {
	if r.Float64() < 0.53 {
		return "F"
	}
	return "M"
}

// cost is log-normal, older patients paying more.
func cost(r *rand.Rand, d department, age int32) float64 {
	c := d.cost * math.Exp(d.spread*r.NormFloat64()+0.003*float64(age-40))
	return math.Round(100*c) / 100
}

// calendar weighs the days of 2025 for a department: weekdays and seasons.
func calendar(d department) chooser {
	var w []float64
	for day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == 2025; day = day.AddDate(0, 0, 1) {
		x := 1 + d.winter*math.Cos(2*math.Pi*float64(day.YearDay()-15)/365)
		switch weekday := day.Weekday(); {
		case d.alwaysOpen && (weekday == time.Saturday || weekday == time.Sunday):
			x *= 1.2
		case d.alwaysOpen:
		case weekday == time.Monday:
			x *= 1.2
		case weekday == time.Saturday:
			x *= 0.25
		case weekday == time.Sunday:
			x *= 0.05
		}
		w = append(w, x)
	}
	return choose(w)
}

// minute is the time of day: office hours, or a day and night with an evening peak.
func minute(r *rand.Rand, alwaysOpen bool) int {
	if alwaysOpen && r.Float64() < 0.6 {
		return r.IntN(24 * 60)
	}
	centre, width, from, to := 11.5*60, 150.0, 8*60, 18*60
	if alwaysOpen {
		centre, width, from, to = 18.5*60, 150, 0, 24*60
	}
	for {
		if m := int(centre + width*r.NormFloat64()); m >= from && m < to {
			return m
		}
	}
}

// A chooser draws an index with a probability proportional to its weight.
type chooser []float64 // running sums

func choose(weights []float64) chooser {
	c := make(chooser, len(weights))
	sum := 0.0
	for i, w := range weights {
		sum += w
		c[i] = sum
	}
	return c
}

func (c chooser) draw(r *rand.Rand) int {
	x := r.Float64() * c[len(c)-1]
	return sort.Search(len(c)-1, func(i int) bool { return c[i] > x })
}

// visitColumns are the columns of the file.
func visitColumns(visits []Visit) []column {
	return []column{
		int64Column("patient_id", func(i int) (int64, bool) { return visits[i].Patient, true }),
		textColumn("department", func(i int) (string, bool) { return visits[i].Department, true }),
		int32Column("age", func(i int) (int32, bool) { return visits[i].Age, visits[i].Age != Missing }),
		textColumn("sex", func(i int) (string, bool) { return visits[i].Sex, visits[i].Sex != "" }),
		timestampColumn("seen_at", func(i int) (time.Time, bool) { return visits[i].SeenAt, true }),
		doubleColumn("cost", func(i int) (float64, bool) { return visits[i].Cost, visits[i].Cost != Missing }),
	}
}
