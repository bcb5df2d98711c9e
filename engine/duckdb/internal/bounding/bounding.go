//go:build cgo

// Package bounding bounds what units contribute to groups, over the rows of a table that stand in the order of their units.
//
// The rows of a unit come one after another. They are gathered in a small buffer, and when the next unit begins they are
// bounded and added up. That takes no sort, no hash of (group, unit), and no memory that grows with the number of units.
//
// # Why each unit is bounded once, over all of its rows
//
// The order is checked, not believed. Several threads read parts of the table. What one of them reads is cut into runs: in a run, places
// in the table ascend strictly, and units do not descend. The first and the last unit of a run are set aside. The
// others are bounded when they end. When all rows are there, the runs are sorted by their places, and must be disjoint; and no run may begin with
// a unit before the one that the run before it ends with. Otherwise the query fails.
//
// Theorem. If it does not fail, all rows of each unit were bounded together, each of them once.
//
// Proof. Each place is read once at most, as runs are disjoint and places ascend within one; that none is missing is what
// the caller knows by the number of rows. Let a unit be bounded within a run, so that it is neither the run's first nor its last:
// it is greater than the one and less than the other. Units of all runs before are at most the first, and those of all runs after at least
// the last, by the chain of comparisons. So none of its rows are elsewhere; and within the run they are adjacent, as units do not descend. A unit that was
// set aside was set aside wherever it was read, by what was just said. All its parts are adjacent in the order of runs, where parts of equal units
// are put together before they are bounded.
//
// # What is kept of a unit
//
// It is a function of the multiset of the unit's own rows and of the salt, whatever their order: groups are ordered by
// a hash and, where that is the same, by their keys; rows of a group by a hash and then by their values, so that rows which remain tied are
// identical. Privacy needs no more of the hash than that; that all choices are about equally likely makes answers accurate.
//
// Where there is too much to hold in memory, an error says so before any answer, and the caller asks in another way.
package bounding

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb/internal/sink"
	"github.com/discreet-dp/discreet/sqltype"
)

var (
	// ErrRoom says that groups, or the rows of a unit, take more memory than there is for them.
	ErrRoom = errors.New("too much to hold in memory")
	// ErrOrder says that rows do not come in the order of their units.
	ErrOrder = errors.New("rows do not stand in the order of their units")
	errValue = errors.New("a value is no value of a grid")
)

// null stands for a value that is NULL. None has this value: those that are summed have 63 bits.
const null = math.MinInt64

// A Query is one that runs.
type Query struct {
	of    *engine.Ordered
	hash  hashes
	room  atomic.Int64 // how many more bytes may be held
	mu    sync.Mutex
	reads map[uint64]*reader // by the thread
}

// New begins a query, which may hold so many bytes in memory.
func New(of *engine.Ordered, salt, room int64) *Query {
	q := &Query{of: of, hash: newHashes(salt), reads: map[uint64]*reader{}}
	q.room.Store(room)
	return q
}

// Receive takes rows from one of several threads: see sink.Receiver.
func (q *Query) Receive(thread uint64, c *sink.Chunk) error {
	q.mu.Lock()
	r := q.reads[thread]
	if r == nil {
		r = newReader(q)
		q.reads[thread] = r
	}
	q.mu.Unlock()
	r.turn.Lock() // for nobody, as a thread does one thing at a time
	defer r.turn.Unlock()
	return r.read(c)
}

// take takes room.
func (q *Query) take(bytes int) error {
	if q.room.Add(-int64(bytes)) < 0 {
		return ErrRoom
	}
	return nil
}

// A reader reads what one thread hands over.
type reader struct {
	turn   sync.Mutex
	q      *Query
	groups *groups
	unit   unit // whose rows come
	runs   []*run
	rows   int64

	codes []uint32 // of the rows of a chunk
	b     bounder
}

func newReader(q *Query) *reader {
	r := &reader{q: q, groups: newGroups(q)}
	r.unit.values = make([][]int64, q.of.Values)
	r.b.init(q)
	return r
}

// A run is a part of the table that one thread read without a gap in which another one could have read.
type run struct {
	first, last int64 // places
	begin, end  key   // units
	edges       []*unit
	read        bool // a unit was read in it
}

// near is how many places can be between rows of one run. Threads take turns of thousands of rows, so that nobody else read a
// part that is smaller. If somebody did the order is broken, which is seen.
const near = 2048

// A unit are rows of one unit, as far as they were read, and of no group that is left out.
type unit struct {
	key       key
	codes     []uint32 // the group of each row
	values    [][]int64
	hg, hr    []int64 // hashes, where they are given
	firstOfIt bool    // it began its run
}

// A key is a unit's: a number or a text.
type key struct {
	number int64
	text   []byte
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.number, other.number), bytes.Compare(k.text, other.text))
}

func (k key) clone() key { return key{k.number, bytes.Clone(k.text)} }

// read takes a chunk.
func (r *reader) read(c *sink.Chunk) error {
	of := r.q.of
	places, _, err := c.Integers(0)
	if err != nil {
		return err
	}
	var numbers []int64
	var texts []sink.Text
	var present sink.Nulls
	if of.Unit == engine.TextForm {
		texts, present, err = c.Texts(1)
	} else {
		numbers, present, err = c.Integers(1)
	}
	if err != nil {
		return err
	}
	if r.codes, err = r.groups.codes(c, 2, r.codes); err != nil {
		return err
	}
	first := 2 + len(of.Keys)
	values := make([][]int64, of.Values)
	for i := range values {
		if values[i], err = r.valuesOf(c, first+i); err != nil {
			return err
		}
	}
	var hg, hr []int64
	if of.Hashes {
		if hg, _, err = c.Integers(first + of.Values); err != nil {
			return err
		}
		if hr, _, err = c.Integers(first + of.Values + 1); err != nil {
			return err
		}
	}
	r.rows += int64(c.Rows)
	here := unit{values: values, hg: hg, hr: hr, codes: r.codes}
	whole := !slices.Contains(r.codes, leftOut)
	for i := 0; i < c.Rows; {
		j := i + 1
		for j < c.Rows && places[j]-places[j-1] > 0 && places[j]-places[j-1] <= near { // up to the end of a run
			j++
		}
		if err := r.follow(places[i]); err != nil {
			return err
		}
		run := r.runs[len(r.runs)-1]
		run.last = places[j-1]
		for end := j; i < end; i = j {
			if j = i + 1; !present.Has(i) { // rows without a unit are in no group
				continue
			}
			var k key
			if texts != nil {
				for j < end && texts[j].Equal(&texts[i]) && present.Has(j) {
					j++
				}
				k.text = texts[i].Bytes()
			} else {
				k.number = numbers[i]
				for j < end && numbers[j] == k.number && present.Has(j) {
					j++
				}
			}
			if err := r.enter(k, run); err != nil {
				return err
			}
			r.unit.add(&here, i, j, whole)
		}
	}
	if len(r.unit.codes) > mostRows {
		return ErrRoom
	}
	return nil
}

// mostRows bounds the rows of a unit that are gathered.
const mostRows = 1 << 18

// valuesOf are the values of a column, with null in place of NULL.
func (r *reader) valuesOf(c *sink.Chunk, column int) ([]int64, error) {
	values, present, err := c.Integers(column)
	if err != nil {
		return nil, err
	}
	if present == nil {
		if slices.Contains(values, null) {
			return nil, errValue
		}
		return values, nil
	}
	values = slices.Clone(values)
	for i := range values {
		switch {
		case !present.Has(i):
			values[i] = null
		case values[i] == null:
			return nil, errValue
		}
	}
	return values, nil
}

// follow begins a run, unless the one that there is can go on at a place.
func (r *reader) follow(place int64) error {
	if n := len(r.runs); n > 0 {
		if last := r.runs[n-1].last; place > last && place-last <= near {
			return nil
		}
		if err := r.endRun(); err != nil {
			return err
		}
	}
	r.runs = append(r.runs, &run{first: place})
	return r.q.take(200)
}

// enter makes a unit the one whose rows come.
func (r *reader) enter(k key, run *run) error {
	if run.read {
		switch order := r.unit.key.compare(k); {
		case order == 0:
			return nil
		case order > 0:
			return ErrOrder
		case r.unit.firstOfIt:
			if err := r.setAside(run); err != nil {
				return err
			}
		default:
			r.b.bound(&r.unit, r.groups)
		}
	} else {
		run.begin = k.clone()
	}
	r.unit.reset()
	r.unit.key.number, r.unit.key.text = k.number, append(r.unit.key.text[:0], k.text...)
	r.unit.firstOfIt = !run.read
	run.read = true
	return nil
}

// setAside keeps the unit that is read for the end.
func (r *reader) setAside(run *run) error {
	edge := r.unit.clone()
	run.edges = append(run.edges, edge)
	return r.q.take(200 + len(edge.codes)*(4+8*len(edge.values)+8*2))
}

// endRun ends the run.
func (r *reader) endRun() error {
	run := r.runs[len(r.runs)-1]
	if !run.read {
		return nil
	}
	run.end = r.unit.key.clone()
	err := r.setAside(run)
	r.unit.reset()
	return err
}

// add adds rows of a chunk, but those that are left out, unless all of the chunk are there.
func (u *unit) add(chunk *unit, i, j int, whole bool) {
	if whole {
		u.codes = append(u.codes, chunk.codes[i:j]...)
		for c := range u.values {
			u.values[c] = append(u.values[c], chunk.values[c][i:j]...)
		}
		if chunk.hg != nil {
			u.hg, u.hr = append(u.hg, chunk.hg[i:j]...), append(u.hr, chunk.hr[i:j]...)
		}
		return
	}
	for ; i < j; i++ {
		if chunk.codes[i] != leftOut {
			u.add(chunk, i, i+1, true)
		}
	}
}

func (u *unit) reset() {
	u.codes, u.hg, u.hr = u.codes[:0], u.hg[:0], u.hr[:0]
	for c := range u.values {
		u.values[c] = u.values[c][:0]
	}
}

func (u *unit) clone() *unit {
	out := &unit{key: u.key.clone(), codes: slices.Clone(u.codes), hg: slices.Clone(u.hg), hr: slices.Clone(u.hr)}
	for _, v := range u.values {
		out.values = append(out.values, slices.Clone(v))
	}
	return out
}

// append adds the rows of another part of the unit.
func (u *unit) append(part *unit) {
	u.codes, u.hg, u.hr = append(u.codes, part.codes...), append(u.hg, part.hg...), append(u.hr, part.hr...)
	for c := range u.values {
		u.values[c] = append(u.values[c], part.values[c]...)
	}
}

// Finish returns, when all rows were received, how many there were, and the groups: their keys that are shown, and an integer, or NULL where nothing was added, for each contribution.
func (q *Query) Finish() (rows [][]sqltype.Value, read int64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := newReader(q)
	var runs []*run
	for _, r := range q.reads {
		r.turn.Lock() // no thread is at work any more
		defer r.turn.Unlock()
		if len(r.runs) > 0 {
			if err := r.endRun(); err != nil {
				return nil, 0, err
			}
		}
		read += r.rows
		codes := make([]uint32, len(r.groups.all))
		for i, g := range r.groups.all {
			if codes[i], err = all.groups.add(g.key); err != nil {
				return nil, 0, err
			}
		}
		all.b.add(&r.b, codes, all.groups)
		for _, run := range r.runs {
			for _, edge := range run.edges {
				for i, code := range edge.codes {
					edge.codes[i] = codes[code]
				}
			}
		}
		runs = append(runs, r.runs...)
	}
	slices.SortFunc(runs, func(a, b *run) int { return cmp.Compare(a.first, b.first) })
	var before, part *run
	var open *unit
	for _, run := range runs {
		if before != nil && before.last >= run.first {
			return nil, 0, ErrOrder
		}
		before = run
		if !run.read {
			continue
		}
		if part != nil && part.end.compare(run.begin) > 0 {
			return nil, 0, ErrOrder
		}
		part = run
		for _, edge := range run.edges {
			if open != nil && open.key.compare(edge.key) == 0 {
				open.append(edge)
				continue
			}
			if open != nil {
				all.b.bound(open, all.groups)
			}
			open = edge
		}
	}
	if open != nil {
		all.b.bound(open, all.groups)
	}
	return all.b.result(all.groups), read, nil
}
