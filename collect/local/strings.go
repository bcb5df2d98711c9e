package local

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// The protocols for strings that nobody can list.
const (
	PEM      Protocol = "pem"      // prefixes, hashed by functions of one's own
	TreeHist Protocol = "treehist" // prefixes, one bit of a sketch for each
)

// Discoveries are the protocols for strings that nobody can list.
func Discoveries() []Protocol { return []Protocol{PEM, TreeHist} }

// StringsOptions say what is asked.
type StringsOptions struct {
	// Protocol is PEM or TreeHist. Required.
	Protocol Protocol
	// Epsilon is what a report may reveal. Required.
	Epsilon privacy.Epsilon
	// Length is how many bytes of a string count, at most 7; 6 if it is not given.
	Length int
	// Top is how many strings are looked for; 16 if it is not given.
	Top int
	// Of TreeHist: Rows and Columns (a power of two) of a sketch, and the Salt that names its
	// hash functions.
	Rows, Columns int
	Salt          string
}

// Strings asks each respondent for a string, and finds the frequent ones. Each tells the
// prefix of one length, which a public coin chooses, with all of ε; the collector extends the
// prefixes that look frequent, four bits at a time (Wang, Li and Jha 2019, PEM; Bassily, Nissim,
// Stemmer and Thakurta 2017, TreeHist). It is immutable and safe for concurrent use.
//
// Reports are those of OLH, or of HCMS, over the prefixes: as private. What is found is chosen by
// the reports, so that it claims no interval.
type Strings struct {
	options StringsOptions
	olh     *olh
	sketch  *hadamardSketch
	epsilon privacy.Epsilon
	form    form
}

const stepBits = 4

// NewStrings returns the protocol with the given options.
func NewStrings(o StringsOptions) (*Strings, error) {
	if err := checkEpsilon(o.Epsilon); err != nil {
		return nil, err
	}
	o.Length, o.Top = orElse(o.Length, 6), orElse(o.Top, 16)
	if o.Length < 1 || o.Length > 7 || o.Top < 1 || o.Top > 4096 {
		return nil, parameter("strings have 1 to 7 bytes that count, and 1 to 4096 are looked for")
	}
	x := &Strings{options: o}
	var k kernel
	switch o.Protocol {
	case PEM:
		var err error
		if x.olh, err = newOLH(2, o.Epsilon); err != nil {
			return nil, err
		}
		k = x.olh
	case TreeHist:
		made, err := newSketch(FrequencyOptions{Protocol: HCMS, Values: 2, Epsilon: o.Epsilon,
			Rows: orElse(o.Rows, 64), Columns: orElse(o.Columns, 1024), Salt: o.Salt})
		if err != nil {
			return nil, err
		}
		x.sketch = made.(*hadamardSketch)
		k = x.sketch
	default:
		return nil, fmt.Errorf("%w: there is no protocol %q for strings", ErrParameter, o.Protocol)
	}
	x.form = k.form()
	x.form.coins = append([]uint64{uint64(x.levels())}, x.form.coins...)
	var err error
	x.epsilon, err = certified(k.ratio(), o.Epsilon)
	return x, err
}

// levels is the number of prefixes: of 4 bits, of 8, and so on.
func (x *Strings) levels() int { return 8 * x.options.Length / stepBits }

// Length is how many bytes of a string count.
func (x *Strings) Length() int { return x.options.Length }

// Top is how many strings are looked for.
func (x *Strings) Top() int { return x.options.Top }

// Epsilon is what one report reveals at most.
func (x *Strings) Epsilon() privacy.Epsilon { return x.epsilon }

// Event is what one report reveals.
func (x *Strings) Event() privacy.Event { return replaceOne(x.epsilon) }

// prefix is the bits of a string up to a level, its zero bytes included, as a number.
func (x *Strings) prefix(text string, level int) uint64 {
	var all uint64
	for i := range x.options.Length {
		all <<= 8
		if i < len(text) {
			all |= uint64(text[i])
		}
	}
	return all >> (8*x.options.Length - stepBits*(level+1))
}

// Randomize returns a report of a string: the level, and the protocol's report of its prefix.
func (x *Strings) Randomize(s *noise.Stream, text string) (Report, error) {
	r, err := x.form.toss(s)
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	prefix := int(x.prefix(text, int(r[0])))
	var told Report
	if x.olh != nil {
		told, err = x.olh.reply(s, r[1:], prefix)
	} else {
		told, err = x.sketch.reply(s, r[1:], prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("randomize answer: %w", err)
	}
	return append(r[:1:1], told...), nil
}

// Format writes a report as text, its numbers with a blank between any two.
func (x *Strings) Format(r Report) string { return x.form.format(r) }

// Parse reads what Format writes, and refuses what is no report of the protocol.
func (x *Strings) Parse(text string) (Report, error) { return x.form.parse(text) }

// A StringsTally keeps reports. By PEM its size grows with their number, by TreeHist it does not.
type StringsTally struct {
	of       *Strings
	reports  int64
	kept     [][]Report     // of PEM: by level, without it
	sketches []*rowSpectrum // of TreeHist
}

// NewTally returns an empty tally.
func (x *Strings) NewTally() *StringsTally {
	t := &StringsTally{of: x, kept: make([][]Report, x.levels())}
	for range x.levels() {
		if x.sketch != nil {
			t.sketches = append(t.sketches, x.sketch.counter().(*rowSpectrum))
		}
	}
	return t
}

// Add counts a report. It refuses one that the protocol does not make, and then counts nothing.
func (t *StringsTally) Add(r Report) error {
	if err := t.of.form.check(r); err != nil {
		return err
	}
	t.reports++
	if t.of.sketch != nil {
		t.sketches[r[0]].add(r[1:])
	} else {
		t.kept[r[0]] = append(t.kept[r[0]], r[1:])
	}
	return nil
}

// Reports is how many reports were counted.
func (t *StringsTally) Reports() int64 { return t.reports }

// A Found string looks frequent.
type Found struct {
	Text string
	// Share is the raw one. That it was chosen for being large makes it too large on average.
	Share float64
}

// Find returns the strings that look frequent, the most frequent first: those that stand out
// from the noise by four standard deviations, Top of them at most. A prefix is extended if it is
// among the 4·Top that look most frequent, and stands out by two.
func (t *StringsTally) Find() ([]Found, error) {
	if t.reports == 0 {
		return nil, ErrNoReports
	}
	prefixes := []uint64{0}
	var shares []float64
	for level := range t.of.levels() {
		var next []uint64
		for _, p := range prefixes {
			for b := range uint64(1 << stepBits) {
				next = append(next, p<<stepBits|b)
			}
		}
		raw, deviation := t.level(level, next)
		order := make([]int, len(next))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(raw[b], raw[a]) })
		most, above := 4*t.of.options.Top, 2.0
		if level+1 == t.of.levels() {
			most, above = t.of.options.Top, 4
		}
		prefixes, shares = nil, nil
		for _, i := range order[:min(len(order), most)] {
			if raw[i] > above*deviation {
				prefixes, shares = append(prefixes, next[i]), append(shares, raw[i])
			}
		}
	}
	var found []Found
	for i, p := range prefixes {
		found = append(found, Found{t.of.text(p), shares[i]})
	}
	return found, nil
}

// text is the string of all bits, without the zeros at its end.
func (x *Strings) text(bits uint64) string {
	b := make([]byte, x.options.Length)
	for i := range b {
		b[len(b)-1-i] = byte(bits >> (8 * i))
	}
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return string(b)
}

// level returns the raw shares of prefixes among those who told this level, and the standard
// deviation of one that nobody has.
func (t *StringsTally) level(level int, prefixes []uint64) (raw []float64, deviation float64) {
	raw = make([]float64, len(prefixes))
	if o := t.of.olh; o != nil {
		n, c := float64(len(t.kept[level])), o.channel()
		for _, r := range t.kept[level] {
			first := o.hash.start(r[2])
			width := o.hash.start(r[2]+1) - first
			for i, p := range prefixes {
				if o.hash.at(r[0], r[1], p)-first < width {
					raw[i]++
				}
			}
		}
		for i := range raw {
			raw[i] = (raw[i]/n - near(c.miss)) / near(minus(c.hit, c.miss))
		}
		return raw, math.Sqrt(c.variance(0) / n)
	}
	s, c, n := t.sketches[level], t.of.sketch.channel(), 0.0
	for row := range s.rows {
		if s.rows[row].n == 0 {
			continue
		}
		n += s.rows[row].n
		cells := s.rows[row].scores()
		for i, p := range prefixes {
			raw[i] += cells[t.of.sketch.family.bucket(row, int(p))]
		}
	}
	for i := range raw {
		raw[i] = (raw[i]/n - near(c.miss)) / near(minus(c.hit, c.miss))
	}
	return raw, math.Sqrt(c.variance(0) / n)
}

// Error returns how large a share must be to stand out as a found one by four standard
// deviations, among so many respondents; beta is not used.
func (x *Strings) Error(respondents int64, _ *big.Rat) (float64, error) {
	if respondents < 1 {
		return 0, parameter("there are no respondents")
	}
	return 4 * math.Sqrt(x.Variance()*float64(x.levels())/float64(respondents)), nil
}

// Respondents returns the least number of them for a share of alpha to stand out.
func (x *Strings) Respondents(alpha, beta *big.Rat) (int64, error) {
	if alpha == nil || alpha.Sign() <= 0 {
		return 0, parameter("alpha is not positive")
	}
	return leastCount(func(n int64) (bool, error) {
		e, err := x.Error(n, beta)
		return e <= near(alpha), err
	})
}

// Variance is that of a rare prefix's raw share in one report of its level.
func (x *Strings) Variance() float64 { return x.channel().variance(0) }

func (x *Strings) channel() channel {
	if x.olh != nil {
		return x.olh.channel()
	}
	return x.sketch.channel()
}

// Describe returns the numbers of the protocol. Variances are those of a prefix's share from so
// many reports of all levels.
func (x *Strings) Describe(reports int64) *Description {
	d := newDescription(x.options.Protocol, x.options.Epsilon, x.epsilon, x.options.Epsilon.Float64(), x.epsilon.Float64(), reports)
	d.Set("reports", max(reports, 1))
	d.Set("length", x.options.Length)
	d.Set("levels", x.levels())
	d.Set("top", x.options.Top)
	if x.olh != nil {
		d.Set("g", x.olh.g)
	} else {
		d.size(&x.sketch.sketch)
	}
	d.Set("p", near(x.channel().hit))
	d.Set("q", near(x.channel().miss))
	d.Set("variance", x.Variance()*float64(x.levels())/d.reports)
	d.Set("event", x.Event())
	return d
}
