package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A Description is the numbers by which a protocol is known, in the names of the literature,
// in order. It is written as a JSON object.
type Description struct {
	Names   []string
	Values  map[string]any
	reports float64 // how many the variances are of
	epsilon float64
	// certified is what one report reveals.
	certified float64
}

// Set adds a number, or replaces one.
func (d *Description) Set(name string, value any) {
	if _, again := d.Values[name]; !again {
		d.Names = append(d.Names, name)
	}
	d.Values[name] = value
}

// pair sets the two probabilities of a channel, and the variance of raw shares.
func (d *Description) pair(c channel) {
	d.Set("p", near(c.hit))
	d.Set("q", near(c.miss))
	d.spread(c)
}

func (d *Description) spread(c channel) {
	d.Set("var_f0", c.variance(0)/d.reports)
	d.Set("var_f01", c.variance(0.1)/d.reports)
}

// MarshalJSON writes the numbers in their order.
func (d *Description) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range d.Names {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(d.Values[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func newDescription(protocol Protocol, asked, certified fmt.Stringer, e, c float64, reports int64) *Description {
	d := &Description{Values: map[string]any{}, reports: float64(max(reports, 1)), epsilon: e, certified: c}
	d.Set("protocol", protocol)
	d.Set("epsilon", json.Number(decimal(asked.String(), e)))
	d.Set("certified", json.Number(decimal(certified.String(), c)))
	return d
}

// decimal is the exact text of an amount, if it is one.
func decimal(text string, near float64) string {
	if _, err := numeric.ParseDecimal(text); err != nil {
		return fmt.Sprint(near)
	}
	return text
}

// Describe returns the numbers of the protocol. Variances are those of a raw share from so
// many reports.
func (f *Frequency) Describe(reports int64) *Description {
	d := newDescription(f.options.Protocol, f.options.Epsilon, f.epsilon, f.options.Epsilon.Float64(), f.epsilon.Float64(), reports)
	if f.why != "" {
		d.Set("why", f.why)
	}
	d.Set("categories", f.options.Values)
	d.Set("reports", max(reports, 1))
	f.kernel.parameters(d)
	d.Set("variance", f.Variance(0)/d.reports)
	d.Set("event", f.event)
	return d
}

// Variance is that of the raw share from one report, where the true one is share.
func (f *Frequency) Variance(share float64) float64 {
	if h, ok := f.kernel.(*she); ok {
		return h.variance()
	}
	return f.kernel.channel().variance(share)
}

// unaryIdeal is the variance of OUE, which hashing has at g = e^ε+1.
func unaryIdeal(eps float64) float64 {
	e := math.Exp(eps)
	return 4 * e / ((e - 1) * (e - 1))
}

func parameter(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrParameter}, args...)...)
}

func intervalOf(n int64) numeric.Interval { return numeric.OfInt(n) }
