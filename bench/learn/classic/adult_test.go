package classic

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/privacy"
)

// adult is the declaration of the census extract "Adult", as its documentation lists the
// domains (adult.names, Becker and Kohavi 1996). What is not in it: fnlwgt, a weight
// of the sample, and education_num, which is education.
func adult(bins int) *example.Encoding {
	text := func(name string, values ...string) example.Column {
		return example.Column{Name: name, Type: "text", Values: values}
	}
	number := func(name string, lower, upper float64) example.Column {
		return example.Column{Name: name, Type: "integer", Lower: lower, Upper: upper, Bins: bins}
	}
	target := text("income", "<=50K", ">50K")
	return &example.Encoding{
		Columns: []example.Column{
			number("age", 17, 90),
			text("workclass", "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "Never-worked"),
			text("education", "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th", "7th-8th", "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool"),
			text("marital_status", "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent", "Married-AF-spouse"),
			text("occupation", "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty", "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv", "Armed-Forces"),
			text("relationship", "Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
			text("race", "White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
			text("sex", "Female", "Male"),
			number("capital_gain", 0, 99999),
			number("capital_loss", 0, 4356),
			number("hours_per_week", 1, 99),
			text("native_country", "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany", "Outlying-US(Guam-USVI-etc)", "India", "Japan", "Greece", "South", "China", "Cuba", "Iran", "Honduras", "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France", "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala", "Nicaragua", "Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong", "Holand-Netherlands"),
		},
		Target: &target,
	}
}

// norm bounds the L2 norm of an encoded example: a column has one feature of at most 1,
// or with bins three.
func norm(e *example.Encoding) float64 {
	square := 0
	for _, c := range e.Columns {
		square++
		if c.Values == nil && c.Bins > 0 {
			square += 2
		}
	}
	return math.Sqrt(float64(square))
}

// data reads both parts of Adult, or skips.
func data(b testing.TB, e *example.Encoding) (train, test *example.Set) {
	b.Helper()
	folder := os.Getenv("DISCREET_DATA")
	if folder == "" {
		b.Skip("skip: DISCREET_DATA is not set")
	}
	var parts [2]*example.Set
	for i, name := range []string{"adult-train.csv", "adult-test.csv"} {
		s, err := example.CSV(context.Background(), filepath.Join(folder, name), e, "", example.Selection{PerUnit: 1})
		if err != nil {
			b.Fatal(err)
		}
		parts[i] = s
	}
	return parts[0], parts[1]
}

// purse is a budget that suffices for anything here.
func purse(b testing.TB, measure filter.Measure) budget.Budget {
	b.Helper()
	f := filter.Budget{Measure: measure, Epsilon: epsilon(b, 1e6)}
	if measure != filter.Pure {
		f.Delta = delta(b, 0.5)
	}
	m, err := budget.NewInMemory("people", f)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func epsilon(b testing.TB, e float64) privacy.Epsilon {
	b.Helper()
	x, err := privacy.EpsilonFromFloat(e)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func delta(b testing.TB, d float64) privacy.Delta {
	b.Helper()
	x, err := privacy.DeltaFromFloat(d)
	if err != nil {
		b.Fatal(err)
	}
	return x
}

// accuracy is the share of examples whose class is found.
func accuracy(s *example.Set, class func([]float32) int) float64 {
	right := 0
	for i, l := range s.Labels {
		if class(s.Features[i*s.Width:(i+1)*s.Width]) == int(l) {
			right++
		}
	}
	return float64(right) / float64(len(s.Labels))
}
