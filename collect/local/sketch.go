package local

import (
	"iter"
	"math/big"
	"math/bits"
	"sync"

	"github.com/discreet-dp/discreet/noise"
)

// sketch is the count-mean sketch (Apple 2017): the value's one-hot vector among the columns
// of a row, which is a public coin, as SUE tells it. Values share a column where the public
// hash function of the row says so, which the estimate takes off on average.
type sketch struct {
	k, rows, columns int
	bits             *unary
	family           family
	ranges           func() [2][]float64
}

func newSketch(o FrequencyOptions) (kernel, error) {
	rows, columns := orElse(o.Rows, 1024), orElse(o.Columns, 1024)
	switch {
	case rows < 1 || rows > 1<<16 || columns < 2 || columns > 1<<16:
		return nil, parameter("a sketch has 1 to 65536 rows and 2 to 65536 columns")
	case o.Protocol == HCMS && bits.OnesCount(uint(columns)) != 1:
		return nil, parameter("the columns of hcms are a power of two")
	}
	s := sketch{k: o.Values, rows: rows, columns: columns, family: newFamily(o.Salt, rows, columns)}
	s.ranges = sync.OnceValue(func() [2][]float64 {
		least, most := overlaps(s.k, rows, 1, s.cell)
		return [2][]float64{least, most}
	})
	if o.Protocol == HCMS {
		return &hadamardSketch{s, hadamard{k: o.Values, size: columns, bitResponse: newBitResponse(o.Epsilon)}}, nil
	}
	s.bits = newUnary(SUE, columns, o.Epsilon)
	return &s, nil
}

func (c *sketch) cell(row, value int) []int { return []int{c.family.bucket(row, value)} }

func (c *sketch) form() form {
	return form{coins: []uint64{uint64(c.rows)}, bits: c.columns}
}

func (c *sketch) ratio() *big.Rat { return c.bits.ratio() }

func (c *sketch) reply(s *noise.Stream, r Report, value int) (Report, error) {
	bits, err := c.bits.reply(s, nil, c.cell(int(r[0]), value)[0])
	return append(r, bits...), err
}

func (c *sketch) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	cell := c.cell(int(coins[0]), value)[0]
	return bitLaw(coins, c.columns, func(i int) *big.Rat {
		if i == cell {
			return c.bits.p.p
		}
		return c.bits.q.p
	})
}

func (c *sketch) channel() channel { return c.shared(c.bits.p.p, c.bits.q.p) }

// shared is the channel of values that share a column with the probability of two images.
func (c *sketch) shared(hit, miss *big.Rat) channel {
	return plainChannel(hit, plus(miss, times(minus(hit, miss), c.family.hash.collision())))
}

func (c *sketch) misses() (least, most []float64) { return c.between(c.bits.p.p, c.bits.q.p) }

func (c *sketch) between(hit, miss *big.Rat) (least, most []float64) {
	bounds, gap := c.ranges(), near(minus(hit, miss))
	return shift(bounds[0], near(miss), gap), shift(bounds[1], near(miss), gap)
}

func (c *sketch) counter() counter {
	return &grid{c.rows, c.columns, c.k, make([]uint64, c.rows*c.columns), c.cell}
}

func (c *sketch) parameters(d *Description) {
	d.Set("p", near(c.bits.p.p))
	d.Set("q", near(c.bits.q.p))
	d.size(c)
	d.spread(c.channel())
}

func (d *Description) size(c *sketch) {
	d.Set("rows", c.rows)
	d.Set("columns", c.columns)
}

// hadamardSketch tells one coefficient of the row's Hadamard transform, which is a public coin
// too: one bit.
type hadamardSketch struct {
	sketch
	bit hadamard
}

func (c *hadamardSketch) form() form {
	return form{coins: []uint64{uint64(c.rows), uint64(c.columns)}, numbers: []uint64{2}}
}

func (c *hadamardSketch) ratio() *big.Rat  { return c.bit.ratio() }
func (c *hadamardSketch) channel() channel { return c.shared(c.bit.p, half()) }

func (c *hadamardSketch) misses() (least, most []float64) { return c.between(c.bit.p, half()) }

func (c *hadamardSketch) reply(s *noise.Stream, r Report, value int) (Report, error) {
	reply, err := c.bit.reply(s, Report{r[1]}, c.family.bucket(int(r[0]), value))
	if err != nil {
		return nil, err
	}
	return append(r, reply[1]), nil
}

func (c *hadamardSketch) law(coins Report, value int) iter.Seq2[Report, *big.Rat] {
	return bitLaws(coins, entry(uint64(c.family.bucket(int(coins[0]), value)), coins[1]), c.bit.p)
}

// A rowSpectrum is a spectrum for each row.
type rowSpectrum struct {
	of   *hadamardSketch
	rows []spectrum
}

func (c *hadamardSketch) counter() counter {
	s := &rowSpectrum{c, make([]spectrum, c.rows)}
	for i := range s.rows {
		s.rows[i] = spectrum{k: c.columns, sums: make([]float64, c.columns)}
	}
	return s
}

func (s *rowSpectrum) add(r Report) { s.rows[r[0]].add(r[1:]) }

func (s *rowSpectrum) scores() []float64 {
	out := make([]float64, s.of.k)
	for i := range s.rows {
		if s.rows[i].n == 0 {
			continue
		}
		cells := s.rows[i].scores()
		for v := range out {
			out[v] += cells[s.of.family.bucket(i, v)]
		}
	}
	return out
}

func (s *rowSpectrum) merge(other counter) {
	for i := range s.rows {
		s.rows[i].merge(&other.(*rowSpectrum).rows[i])
	}
}

func (c *hadamardSketch) parameters(d *Description) {
	d.Set("p_keep", near(c.bit.p))
	d.Set("scale", 1/near(minus(plus(c.bit.p, c.bit.p), one())))
	d.Set("p", near(c.bit.p))
	d.Set("q", 0.5)
	d.size(&c.sketch)
	d.spread(c.channel())
}
