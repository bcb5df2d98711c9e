package pgcatalog

import "math"

// A table is rows, with indexes that are made when they are first used.
type table struct {
	rows  [][]any
	index map[int]map[any][][]any
}

// lookup returns the rows with a value in a column; ok is false where the value cannot be
// looked up.
func (t *table) lookup(column int, v any) (rows [][]any, ok bool) {
	switch v.(type) {
	case int64, string, bool:
	default:
		return nil, false
	}
	if t.index == nil {
		t.index = map[int]map[any][][]any{}
	}
	index := t.index[column]
	if index == nil {
		index = map[any][][]any{}
		for _, row := range t.rows {
			switch v := row[column].(type) {
			case int64, string, bool:
				index[v] = append(index[v], row)
			case nil:
			default:
				return nil, false
			}
		}
		t.index[column] = index
	}
	return index[v], true
}

// A conjunct is a condition that rows must meet, of a chain of AND.
type conjunct struct{ *expr }

// A node gives rows: it sets the rows of its entries in the frame and calls yield for each.
// It returns false where yield did.
type node interface {
	provides() uint64
	// attach tells the node which entries have rows before it runs and which conditions there
	// are. It takes what it can test, and returns the rest.
	attach(bound uint64, conditions []conjunct) []conjunct
	// estimate says about how many rows it gives then.
	estimate(bound uint64, conditions []conjunct) float64
	run(f *frame, yield func() bool) bool
}

// A scan gives the rows of one entry.
type scan struct {
	rte     int
	source  func(*frame) *table
	size    float64
	needs   uint64 // entries that a LATERAL source names
	filters []*expr
	keys    []keyed
}

// keyed is a column that must equal an expression.
type keyed struct {
	column int
	value  *expr
}

func (s *scan) provides() uint64 { return 1 << s.rte }

func (s *scan) keyOf(bound uint64, c conjunct) (keyed, bool) {
	if c.equal == nil {
		return keyed{}, false
	}
	for i, x := range c.equal {
		other := c.equal[1-i]
		if x.column != nil && x.column.rte == s.rte && other.used&^bound == 0 {
			return keyed{x.column.index, other}, true
		}
	}
	return keyed{}, false
}

func (s *scan) attach(bound uint64, conditions []conjunct) (rest []conjunct) {
	var heavy []*expr
	for _, c := range conditions {
		if c.used&^(bound|s.provides()) != 0 {
			rest = append(rest, c)
			continue
		}
		if k, ok := s.keyOf(bound, c); ok {
			s.keys = append(s.keys, k)
		}
		if c.heavy {
			heavy = append(heavy, c.expr)
		} else {
			s.filters = append(s.filters, c.expr)
		}
	}
	s.filters = append(s.filters, heavy...)
	return rest
}

func (s *scan) estimate(bound uint64, conditions []conjunct) float64 {
	if s.needs&^bound != 0 {
		return math.Inf(1)
	}
	n := s.size
	for _, c := range conditions {
		if c.used&^(bound|s.provides()) != 0 {
			continue
		}
		if _, ok := s.keyOf(bound, c); ok {
			n = math.Min(n/4, math.Sqrt(s.size))
		} else if c.used&s.provides() != 0 {
			n *= 0.7
		}
	}
	return n
}

func (s *scan) run(f *frame, yield func() bool) bool {
	t := s.source(f)
	rows := t.rows
	for _, k := range s.keys {
		v := k.value.eval(f)
		if v == nil {
			return true
		}
		if found, ok := t.lookup(k.column, v); ok && len(found) < len(rows) {
			rows = found
		}
	}
rows:
	for _, row := range rows {
		f.q.tick(1)
		f.rows[s.rte] = row
		for _, c := range s.filters {
			if c.eval(f) != true {
				continue rows
			}
		}
		if !yield() {
			return false
		}
	}
	return true
}
