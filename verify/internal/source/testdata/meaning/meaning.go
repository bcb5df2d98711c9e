// Package meaning has functions that mean what only Go's specification says. They are
// run, and so is what they are read as: both must agree. Their claims are idle.
package meaning

import (
	"cmp"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/noise"
)

//dp:adjacent each(q) <= 1
//dp:cost eps
func Order(q []float64, eps float64, src *noise.Source) float64 {
	return pair(src.Laplace(1), src.Laplace(2)) + src.Laplace(4)*src.Exponential(1)
}

func pair(a, b float64) float64 { return a - 3*b }

//dp:adjacent each(q) <= 1
//dp:cost eps
func ShortAnd(q []float64, eps float64, src *noise.Source) (n int) {
	for _, x := range q {
		if x > 0 && src.Laplace(1) > 0 || x < -1 && src.Bernoulli(0.5) {
			n++
		}
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func ShortOr(q []float64, eps float64, src *noise.Source) []bool {
	var out []bool
	for _, x := range q {
		b := src.Bernoulli(0.25) || src.Bernoulli(0.5) && x > 0 || !src.Bernoulli(0.5)
		out = append(out, b)
	}
	return out
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Indices(q []float64, eps float64, src *noise.Source) int {
	n := 0
	for range q {
		if k := src.Uniform(3); k > src.Uniform(5) {
			n += k
		}
	}
	m := 3
	m = src.Uniform(m)
	return n + []int{4, 5}[m] // which panics where m is 2
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func LoopCondition(q []float64, eps float64, src *noise.Source) int {
	n := 0
	for n < 10 && src.Laplace(1) < 0.5 {
		n++
		if n == 4 {
			continue
		}
		n++
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Shadow(q []float64, eps float64, src *noise.Source) (float64, int) {
	x, n := 1.0, 0
	for i, x := range q {
		x := x * 2
		if x := x + 1; x > 0 {
			n += i
			x++
		}
		if x > 3 {
			n -= 7
		}
	}
	{
		x := 5.0
		x++
	}
	return x, n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Swap(q []float64, a, b int, eps float64) (int, int, int) {
	a, b = b, a
	c := 0
	a, c, b = a+b, a-b, c+a
	return a, b, c
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Divide(q []float64, a, b int, eps float64) (x, y int) {
	if b == 0 {
		return
	}
	x, y = a/b, a%b
	return
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func DividePanics(q []float64, a, b int, eps float64) int { return a/b + a%(b-1) }

//dp:adjacent each(q) <= 1
//dp:cost eps
func IndexPanics(q []float64, a int, eps float64) float64 {
	if len(q) > 2 && q[a] > 0 {
		return 1
	}
	return q[len(q)-1]
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func MakePanics(q []float64, a int, eps float64) []float64 {
	out := make([]float64, a)
	for i := range out {
		out[i] = q[i]
	}
	return out
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func SwitchBreak(q []float64, a int, eps float64, src *noise.Source) (n int) {
	for i, x := range q {
		switch {
		case x > 2:
			if i > 1 {
				break
			}
			n += 100
		case x > 0, a > 0 && x < -1:
			n++
			continue
		default:
			n += 1000
		}
		n += 10
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func SwitchTag(q []float64, a int, eps float64, src *noise.Source) int {
	switch b := a % 3; b {
	default:
		return -b
	case 1:
		a += 10
	case 2, -2:
		return 7
	}
	switch a {
	case 11:
		a = 12
	case 12:
		a = 13
	}
	return a
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Labels(q []float64, a int, eps float64, src *noise.Source) (n int) {
outer:
	for i := 0; i < len(q); i += 1 {
		for j := range q {
			n += 10
			if q[j] > q[i] {
				n++
				continue outer
			}
			if q[j] < -1 {
				break outer
			}
		}
		n += 1000
	}
block:
	switch {
	case a > 0:
		for range a {
			n += 7
			if n > 100 {
				break block
			}
		}
		n *= 2
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Closures(q []float64, a int, eps float64, src *noise.Source) int {
	total := 0
	add := func(n int) int {
		total += n * a
		return total
	}
	a = 3
	first := add(2)
	a = 4
	second := add(first)
	for i := range 3 {
		twice := func() int { return i * 2 }
		i++
		total += twice()
	}
	return total + second
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func RangeInt(q []float64, a int, eps float64) (n int) {
	limit := a
	for i := range limit {
		limit = 0
		i *= 2
		n += i
	}
	for i := range len(q) {
		n += i
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func RangeOnce(q []float64, eps float64) []float64 {
	var out []float64
	for range q {
		out = append(out, 1)
	}
	for i := range out {
		out = append(out, float64(i))
	}
	return out
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func RangeStores(q []float64, eps float64) []float64 {
	s := slices.Clone(q)
	for i, x := range s {
		if i+1 < len(s) {
			s[i+1] += x
		}
	}
	return s
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Early(q []float64, a int, eps float64, src *noise.Source) float64 {
	x := find(q, float64(a)) + find(q, 1)
	if x > 2 {
		return x
	}
	return x + find(append([]float64(nil), 1, 2, 3), 2)
}

func find(q []float64, t float64) float64 {
	for i, x := range q {
		if x == t {
			return float64(i)
		}
		for j := range i {
			if float64(j) == t {
				if x > 0 {
					return -2
				}
				break
			}
		}
		if x > t+3 {
			return -3
		}
	}
	if t > 0 {
		if len(q) > 2 {
			return -4
		}
	} else if t < -2 {
		return -5
	}
	return -1
}

type state struct {
	count, limit int
	sum          float64
	seen         []float64
	inner
}

type inner struct{ deep int }

func (i *inner) dig(n int)  { i.deep += n }
func (i inner) depth() int  { i.deep++; return i.deep }
func (s *state) full() bool { return s.count >= s.limit }

func (s *state) push(x float64) (float64, bool) {
	if s.full() {
		return 0, false
	}
	s.count++
	s.sum += x
	s.seen = append(s.seen, x)
	s.dig(s.count)
	return s.sum, true
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Methods(q []float64, a int, eps float64, src *noise.Source) (int, float64, []float64, int) {
	s := state{limit: a}
	p := &s
	t := s
	t.count = 5
	last := 0.0
	for _, x := range q {
		y, ok := p.push(x)
		if !ok {
			break
		}
		last = y
	}
	return s.count + s.depth() + s.deep, last, p.seen, t.count
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func (s *counter) Receiver(q []float64, eps float64, src *noise.Source) (int, bool) {
	for _, x := range q {
		if !s.push(src.Round(x, 1)) {
			return s.count, s.full()
		}
	}
	s.count = -s.count
	return s.count, s.full()
}

type counter struct {
	count, limit int
	sum          float64
	*inner
}

func (s *counter) full() bool { return s.count >= s.limit }

func (s *counter) push(x float64) bool {
	if s.full() {
		return false
	}
	s.count++
	s.sum += x
	s.dig(s.count)
	return s.depth() < 9
}

//dp:adjacent each(s.q) <= 1
//dp:cost eps
func ByValue(s struct {
	q []float64
	t float64
}, eps float64, src *noise.Source) (n int) {
	s.t++
	for _, x := range s.q {
		if x > s.t {
			n++
		}
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Yields(q []float64, a int, eps float64, src *noise.Source) iter.Seq2[float64, int] {
	return func(yield func(float64, int) bool) {
		n := 0
		for _, x := range q {
			noisy := x + src.Laplace(1)
			if noisy > 0 {
				n++
			}
			if !yield(noisy, n) || n > a {
				return
			}
		}
		yield(-1, n)
	}
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Stream(q iter.Seq[float64], a int, eps float64, src *noise.Source) iter.Seq[bool] {
	n := a
	return func(yield func(bool) bool) {
		for x := range q {
			if x < 0 {
				continue
			}
			if !yield(x+src.Laplace(1) > 1) {
				return
			}
			n--
			if n < 0 {
				break
			}
		}
	}
}

//dp:adjacent each(counts) <= 1
//dp:cost eps
func Counts(counts []int64, a int64, eps float64, src *noise.Source) ([]int64, float64) {
	out := make([]int64, len(counts))
	for i, n := range counts {
		out[i] = max(n, a, -2) + src.DiscreteLaplace(1/eps) - min(src.Geometric(1), 3)
		out[i] += src.DiscreteGaussian(1)
	}
	return out, float64(len(out)) / 2
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Mathematics(q []float64, a int, eps float64, src *noise.Source) float64 {
	x := math.Abs(float64(a)) + math.Floor(-1.5) + math.Ceil(1.5)*math.Max(2, float64(a))
	y := float64(int(-1.5+float64(a))) + math.Sqrt(4) + math.Trunc(-2.5)
	return x*1e3 + y/8 + math.Min(x, -y) + 0.25*3 - math.Pow(2, 3)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Pick(q []float64, eps float64, src *noise.Source) float64 {
	if len(q) == 0 {
		return 0
	}
	i := src.Choose(q, eps)
	return q[i]
}

var errNegative = errors.New("negative")

func checked(x float64) (float64, error) {
	if x < -2 {
		return 0, errNegative
	}
	if x > 5 {
		return x, errors.New("large")
	}
	return x * 2, nil
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Errors(q []float64, eps float64, src *noise.Source) (sum float64, err error) {
	for _, x := range q {
		y, err := checked(x)
		if err != nil {
			return sum, err
		}
		sum += y
	}
	if sum > 3 {
		_, err = checked(-3)
	}
	return
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Drawn(q []float64, eps float64, d *noise.DiscreteLaplace, g *noise.Geometric, stream *noise.Stream) (int64, error) {
	k, err := noisy(d, stream)
	if err != nil {
		return 0, err
	}
	if g != nil {
		n, err := g.Int64(stream)
		if err != nil {
			return 0, err
		}
		k -= n
	}
	return k, nil
}

func noisy(d *noise.DiscreteLaplace, stream *noise.Stream) (int64, error) {
	k, err := d.Int64(stream)
	if err != nil {
		return 0, err
	}
	return 2 * k, nil
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Guard(q, t []float64, eps float64, src *noise.Source) (n int) {
	if len(q) != len(t) {
		panic("as many thresholds as queries")
	}
	for i := range q {
		if q[i] >= t[i] {
			n++
		}
	}
	return n
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Appended(q []float64, a int, eps float64) ([]float64, []float64, int) {
	x := append([]float64(nil), q...)
	x = append(x, q...)
	y := append(x, 7)
	y = append(y, x...)
	z := []float64{1, 2}
	z[1] += float64(len(y))
	return y, z, len(x)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Nested(q []float64, a int, eps float64, src *noise.Source) (n int) {
	for i := 0; i < 3; i++ {
		for _, x := range q {
			if src.Bernoulli(0.125) {
				return n
			}
			if x > float64(i) {
				n++
				break
			}
		}
		for range 2 {
			n += 3
			if n > 20 {
				goOn(&state{}, n)
				return n * 2
			}
		}
	}
	return n
}

func goOn(s *state, n int) { s.count = n }

//dp:adjacent each(q) <= 1
//dp:cost eps
func ErrorVariable(q []float64, a int, eps float64) (n int, err error) {
	if a > 2 {
		err = errNegative
	}
	if err != nil {
		n++
	}
	var last error
	for _, x := range q {
		if last != nil {
			n += 10
		}
		if x > 0 {
			last = err
		} else {
			last = nil
		}
	}
	return n, last
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func OffByOne(q []float64, a, b int, eps float64) float64 {
	if a >= 0 && a < len(q) && b == 1 {
		return q[a+1]
	}
	if a > 0 && a <= len(q) && b == 2 {
		return q[a-1] + q[a%len(q)]
	}
	if a != 0 && b == 3 {
		return q[min(a, len(q)-1)]
	}
	return 0
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func AppendedPanics(q []float64, a int, eps float64) float64 {
	var out []float64
	sum := 0.0
	for i := 0; i < len(q); i++ {
		out = append(out, q[i])
		sum += out[i]
		if a > i {
			sum += out[i+1]
		}
	}
	for i := len(out); i > 0; i-- {
		sum += out[i-1]
	}
	if a == -1 {
		return out[len(q)]
	}
	return sum
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func ContinuePanics(q []float64, a int, eps float64) float64 {
	i := 0
	for i < len(q) {
		if q[i] > 2 {
			i += 2
			continue
		}
		if q[i] < -3 {
			break
		}
		i++
	}
	if a == 0 {
		return q[i]
	}
	return float64(i)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func FarPanics(q []float64, a int, eps float64) float64 {
	j := 0
	for i := 0; i < len(q); i++ {
		if q[i] > 2 {
			continue
		}
		j++
	}
	if a > 0 && a < len(q) {
		return q[a-2]
	}
	if len(q) != 0 && a == -1 {
		return q[len(q)-2]
	}
	if len(q) != 0 {
		return q[j-1]
	}
	return 0
}

//dp:adjacent each(count) <= 1
//dp:cost eps
func Maps(keys []string, count map[string]int64, a int, eps float64, src *noise.Source) ([]int64, int) {
	var out []int64
	n := 0
	for i, k := range keys {
		if count[k] > 2 && i != a {
			n += len(keys)
			continue
		}
		for range count[k] {
			n++
		}
		out = append(out, count[k]+src.DiscreteLaplace(1))
	}
	return out, n
}

type winner struct {
	at    int
	score float64
}

func smaller(x, y float64) bool { return x < y }

//dp:adjacent each(q) <= 1
//dp:cost eps
func Infinities(q []float64, a int, x, eps float64) (int, int, bool, float64) {
	best, least := math.Inf(-1), math.Inf(1)
	won := winner{-1, math.Inf(-1)}
	at, n := -1, 0
	for i, y := range q {
		if y > best {
			best, at = y, i
		}
		if !(y >= least) {
			n++
			least = y
		}
		if won.score <= y && i != a {
			won = winner{i, y}
		}
		if y == best || smaller(best, least) {
			n += 2
		}
		if y < -3 {
			best, least = math.Inf(-1), math.Inf(1)
		}
	}
	top := -math.Inf(1)
	second := top
	for i := range q {
		second = max(second, min(top, q[i]))
		top = math.Max(q[i], top)
	}
	both := best == won.score || math.IsInf(least, 1) || math.IsInf(top, -1) != math.IsInf(best, 0) || second != top
	if math.IsInf(second, 0) {
		return at, n, both, x
	}
	third := min(x, top, second)
	if math.IsInf(third, -1) {
		return at, n + won.at, both, 0
	}
	fourth := max(x, top)
	return at + won.at, n, both || third > fourth, fourth
}

//dp:adjacent each(n) <= 1
//dp:cost eps
func Ends(q []float64, n []int64, eps float64) (int, bool) {
	best, least := -math.MaxFloat64, int64(math.MaxInt64)
	at := -1
	for i, y := range q {
		if y > best {
			best, at = y, i
		}
	}
	for _, y := range n {
		least = min(y, least)
	}
	return at, least < math.MaxInt64
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Library(q []float64, n []int64, a int, eps float64) (float64, int, int, int, bool) {
	m := 0
	for i, x := range q {
		m = 3*m + cmp.Compare(x, q[0])
		if cmp.Compare(x, q[0]) <= 0 || 0 == cmp.Compare(i, a) || cmp.Compare(i, a) > 0 {
			m++
		}
		if cmp.Less(x, q[i]+1) && slices.Contains(n, int64(a)) {
			m++
		}
	}
	k := slices.Index(n, int64(a)-1)
	return slices.Max(q), slices.Index(q, slices.Max(q)), slices.Index(n, slices.Min(n)), k + m, slices.Contains(q, 1)
}

type bucket struct {
	left int
	rate float64
	src  *noise.Source
}

func newBucket(left int, rate float64, src *noise.Source) *bucket {
	if left < 0 {
		left = -left
	}
	return &bucket{left: left, rate: rate + src.Laplace(1), src: src}
}

func (b *bucket) take(x float64) (taken, more bool) {
	if b.left == 0 {
		return false, false
	}
	if x+b.src.Laplace(1) > b.rate {
		b.left--
		return true, b.left > 0
	}
	return false, true
}

func doubled(b bucket) bucket {
	b.left *= 2
	return b
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Made(q []float64, a int, eps float64, src *noise.Source) ([]bool, int) {
	var out []bool
	n := 0
	for i, x := range q {
		b := newBucket(a, x, src)
		for _, y := range q {
			taken, more := b.take(y)
			out = append(out, taken)
			if !more {
				break
			}
		}
		c := newBucket(i, x, src)
		twice := doubled(*c)
		twice.take(x)
		n += b.left + 10*c.left + 100*twice.left
	}
	return out, n
}

type place struct{ X, Y int }

type answer struct {
	At    place
	Above bool
	Value float64
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Rows(q []float64, a int, eps float64, src *noise.Source) ([]answer, int) {
	var out []answer
	if len(q) == 2 {
		return nil, 0
	}
	for i, x := range q {
		ans := answer{At: place{X: i, Y: len(out)}}
		if x+src.Laplace(1) > 0 {
			ans.Above = true
			ans.Value = x
			out = append(out, ans, answer{At: place{i, i}})
			ans.Value = 7
			continue
		}
		out = append(out, ans)
		j := len(out) - 1
		out[j].Value += 2
		out[j].At.Y = i
		last := out[j]
		j = 0
		last.At.X = 9
		out[j] = last
	}
	if len(out) > 3 {
		out[2] = answer{Above: true}
		k := 1
		k, out[k] = following(k)
		out[k].Value, k = 3, a
		k, out[0].At.X = a, 2+k
	}
	return out, len(out)
}

func following(i int) (int, answer) { return i + 1, answer{At: place{X: i}} }

func mark(rows []answer, n int) []answer {
	marked := make([]answer, n)
	for i := 0; i < n && i < len(rows); i++ {
		marked[i].Above = !rows[i].Above
		marked[i].At = rows[i].At
	}
	return marked
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func RowsAside(q []float64, a int, eps float64, src *noise.Source) []answer {
	rows := []answer{{Value: 1}, {At: place{1, 2}, Above: true}}
	for _, x := range q {
		rows = append(rows, answer{Value: x})
	}
	if a < 0 {
		a = -a
	}
	return mark(rows, a)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Nothing(q []float64, a int, eps float64, src *noise.Source) []float64 {
	if a > 1 {
		return nil
	}
	var out []float64
	for _, x := range q {
		if x > 1 {
			return nil
		}
		out = append(out, x)
	}
	return out
}

type placed struct {
	at    int
	score float64
}

//dp:adjacent |x| <= 1
//dp:cost eps
func Places(a, b int, x, eps float64) (int, int, float64, float64, int, float64) {
	other := func(n, m int) (p, q int) {
		p, q = n, m
		return q, p
	}
	sum := func(n, m int) (p, q int, r placed) {
		p, r.at = n+m, m
		return n - m, p, placed{r.at, float64(q + p)}
	}
	first, second := other(a, b)
	third, fourth, there := sum(first, second)
	i := 0
	scores := make([]float64, 3)
	i, scores[i] = indexed(1, x)
	scores[i], i = indexed2(x, 2)
	rows := []placed{{0, 1}, {1, 2}}
	rows[rows[0].at] = placed{1, x}
	rows[1].score, rows[rows[0].at].at = 3+rows[1].score, 4
	return third, fourth - i, scores[0] - scores[2] + rows[1].score, scores[1] + rows[0].score, there.at + rows[1].at, there.score
}

func indexed(n int, x float64) (int, float64) { return n, x }

func indexed2(x float64, n int) (float64, int) { return 2 * x, n }

//dp:adjacent each(q) <= 1
//dp:cost eps
func Parts(q []float64, eps float64, src *noise.Source) (out []float64) {
	if len(q) == 0 {
		return nil
	}
	best, at := q[0], 0
	for i, x := range q[1:] {
		if x > best {
			best, at = x, i+1
		}
	}
	out = append(out, float64(at))
	for i := range q[:len(q)-1] {
		out = append(out, q[i]-q[i+1])
	}
	k := 2
	for i, x := range q[min(k, len(q)):] {
		k, i = 7, i+k
		out = append(out, x+src.Laplace(1), float64(i))
	}
	for _, x := range q[:min(len(q), k-4)] {
		out = append(out, x)
	}
	return out
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func PartPanics(q []float64, n int, eps float64, src *noise.Source) (sum float64) {
	for _, x := range q[n:] {
		sum += x
	}
	for _, x := range q[1 : len(q)-1] {
		sum += 10 * x
	}
	return sum
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func PartsOfOwn(q []float64, n int, eps float64, src *noise.Source) (out []float64) {
	kept := slices.Clone(q)
	for i, x := range kept[min(max(0, n), len(q)):] {
		kept[0] = x + 1
		out = append(out, x, float64(i))
	}
	return append(out, kept...)
}

//dp:adjacent each(q) <= 1
//dp:cost eps
func Copied(q []float64, n int, eps float64, src *noise.Source) ([]float64, []float64, []float64) {
	noisy := make([]float64, len(q))
	copy(noisy, q)
	again := make([]float64, len(noisy))
	copy(again, noisy)
	for i := range noisy {
		noisy[i] += src.Laplace(1)
		again[i] *= 2
	}
	return noisy, again, q
}
