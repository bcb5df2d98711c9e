package local

import (
	"math/big"
	"strconv"
	"strings"

	collect "github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A survey is one protocol, from values to reports to estimates.
type survey interface {
	describe(reports int64) *collect.Description
	respondents(alpha, beta *big.Rat) (int64, error)
	off(reports int64, beta *big.Rat) (float64, error)
	Epsilon() privacy.Epsilon
	Event() privacy.Event
	// report randomizes a value; not if it is unreadable.
	report(s *noise.Stream, value string) (text string, readable bool, err error)
	// wants is what a value must be.
	wants() string
	add(report string) error
	reports() int64
	rows(o collect.EstimateOptions, post string) ([]row, error)
}

// A row is what is estimated of one value.
type row struct {
	value     string
	estimate  float64
	low, high *float64
}

func rowsOf(labels []string, x, low, high []float64) []row {
	rows := make([]row, len(labels))
	for i, l := range labels {
		rows[i] = row{value: l, estimate: x[i]}
		if low != nil {
			rows[i].low, rows[i].high = &low[i], &high[i]
		}
	}
	return rows
}

type frequencies struct {
	*collect.Frequency
	tally  *collect.Tally
	labels []string
	index  map[string]int
}

func (f *frequencies) describe(reports int64) *collect.Description { return f.Describe(reports) }
func (f *frequencies) respondents(alpha, beta *big.Rat) (int64, error) {
	return f.Respondents(alpha, beta)
}
func (f *frequencies) off(n int64, beta *big.Rat) (float64, error) { return f.Error(n, beta) }
func (f *frequencies) wants() string                               { return "a value" }
func (f *frequencies) reports() int64                              { return f.tally.Reports() }

// report takes a value that is not listed for a random one: what is refused would be told.
func (f *frequencies) report(s *noise.Stream, value string) (string, bool, error) {
	i, ok := f.index[value]
	if !ok {
		i = -1
	}
	r, err := f.Randomize(s, i)
	return f.Format(r), true, err
}

func (f *frequencies) add(report string) error {
	r, err := f.Parse(report)
	if err != nil {
		return err
	}
	return f.tally.Add(r)
}

// posts are the ways to process raw shares.
var posts = []string{"raw", "clip", "norm-sub", "simplex", "ibu"}

func (f *frequencies) rows(o collect.EstimateOptions, post string) ([]row, error) {
	return sharesOf(f.tally, f.labels, o, post)
}

// sharesOf are the rows of a tally's values.
func sharesOf(t *collect.Tally, labels []string, o collect.EstimateOptions, post string) ([]row, error) {
	if post == "ibu" {
		shares, err := t.IteratedBayes()
		if err != nil {
			return nil, err
		}
		return rowsOf(labels, shares, nil, nil), nil
	}
	e, err := t.Estimate(o)
	if err != nil {
		return nil, err
	}
	return processed(e, labels, post), nil
}

// processed are shares, after one of posts but for ibu.
func processed(e *collect.Estimates, labels []string, post string) []row {
	switch post {
	case "clip":
		return rowsOf(labels, collect.Clip(e.Raw), nil, nil)
	case "norm-sub":
		return rowsOf(labels, collect.NormSub(e.Raw), nil, nil)
	case "simplex":
		return rowsOf(labels, collect.Simplex(e.Raw), nil, nil)
	}
	return rowsOf(labels, e.Raw, e.Low, e.High)
}

type numbers struct {
	*collect.Number
	tally *collect.NumberTally
	o     collect.NumberOptions
}

func (n *numbers) describe(reports int64) *collect.Description       { return n.Describe(reports) }
func (n *numbers) respondents(alpha, beta *big.Rat) (int64, error)   { return n.Respondents(alpha, beta) }
func (n *numbers) off(reports int64, beta *big.Rat) (float64, error) { return n.Error(reports, beta) }
func (n *numbers) wants() string                                     { return "a finite number" }
func (n *numbers) reports() int64                                    { return n.tally.Reports() }

func readNumber(text string) (float64, bool) {
	r, err := numeric.ParseDecimal(strings.TrimSpace(text))
	if err != nil {
		return 0, false
	}
	f, _ := r.Float64()
	return f, true
}

func (n *numbers) report(s *noise.Stream, value string) (string, bool, error) {
	x, ok := readNumber(value)
	if !ok {
		return "", false, nil
	}
	r, err := n.Randomize(s, x)
	return n.Format(r), true, err
}

func (n *numbers) add(report string) error {
	r, err := n.Parse(report)
	if err != nil {
		return err
	}
	return n.tally.Add(r)
}

func (n *numbers) rows(o collect.EstimateOptions, _ string) ([]row, error) {
	e, err := n.tally.Estimate(o.Beta)
	if err != nil {
		return nil, err
	}
	rows := []row{{"mean", e.Raw, &e.Low, &e.High}}
	if n.Protocol() != collect.SquareWave {
		return rows, nil
	}
	shares, err := n.tally.Distribution()
	if err != nil {
		return nil, err
	}
	for _, q := range quartiles {
		rows = append(rows, row{value: quantile(q), estimate: n.Quantile(shares, q)})
	}
	width := (n.o.Upper - n.o.Lower) / float64(len(shares))
	for i, x := range shares {
		from := n.o.Lower + width*float64(i)
		rows = append(rows, row{value: "[" + strconv.FormatFloat(from, 'g', 6, 64) + ", " + strconv.FormatFloat(from+width, 'g', 6, 64) + ")", estimate: x})
	}
	return rows, nil
}

// quartiles are the quantiles that are printed.
var quartiles = []float64{0.25, 0.5, 0.75}

func quantile(q float64) string { return "quantile " + strconv.FormatFloat(q, 'g', -1, 64) }

type vectors struct {
	*collect.Vector
	tally     *collect.VectorTally
	dimension int
}

func (v *vectors) describe(reports int64) *collect.Description { return v.Describe(reports) }
func (v *vectors) respondents(alpha, beta *big.Rat) (int64, error) {
	return v.Respondents(alpha, beta)
}
func (v *vectors) off(n int64, beta *big.Rat) (float64, error) { return v.Error(n, beta) }
func (v *vectors) wants() string {
	return strconv.Itoa(v.dimension) + " finite numbers with blanks between them"
}
func (v *vectors) reports() int64 { return v.tally.Reports() }

func (v *vectors) report(s *noise.Stream, value string) (string, bool, error) {
	x, ok := v.read(value)
	if !ok {
		return "", false, nil
	}
	r, err := v.Randomize(s, x)
	return v.Format(r), true, err
}

// read reads the coordinates of a vector.
func (v *vectors) read(value string) ([]float64, bool) {
	parts := strings.Fields(value)
	if len(parts) != v.dimension {
		return nil, false
	}
	x := make([]float64, len(parts))
	for i, part := range parts {
		var ok bool
		if x[i], ok = readNumber(part); !ok {
			return nil, false
		}
	}
	return x, true
}

func (v *vectors) add(report string) error {
	r, err := v.Parse(report)
	if err != nil {
		return err
	}
	return v.tally.Add(r)
}

func (v *vectors) rows(o collect.EstimateOptions, _ string) ([]row, error) {
	e, err := v.tally.Estimate(o)
	if err != nil {
		return nil, err
	}
	labels := make([]string, v.dimension)
	for i := range labels {
		labels[i] = strconv.Itoa(i)
	}
	return rowsOf(labels, e.Raw, e.Low, e.High), nil
}

type texts struct {
	*collect.Strings
	tally  *collect.StringsTally
	length int // bytes that count
	top    int // strings that are looked for
}

// known is what of a string counts.
func (x *texts) known(value string) string {
	return strings.TrimRight(value[:min(len(value), x.length)], "\x00")
}

func (x *texts) describe(reports int64) *collect.Description { return x.Describe(reports) }
func (x *texts) respondents(alpha, beta *big.Rat) (int64, error) {
	return x.Respondents(alpha, beta)
}
func (x *texts) off(n int64, beta *big.Rat) (float64, error) { return x.Error(n, beta) }
func (x *texts) wants() string                               { return "a string" }
func (x *texts) reports() int64                              { return x.tally.Reports() }

func (x *texts) report(s *noise.Stream, value string) (string, bool, error) {
	r, err := x.Randomize(s, value)
	return x.Format(r), true, err
}

func (x *texts) add(report string) error {
	r, err := x.Parse(report)
	if err != nil {
		return err
	}
	return x.tally.Add(r)
}

func (x *texts) rows(collect.EstimateOptions, string) ([]row, error) {
	found, err := x.tally.Find()
	var rows []row
	for _, f := range found {
		rows = append(rows, row{value: f.Text, estimate: f.Share})
	}
	return rows, err
}
