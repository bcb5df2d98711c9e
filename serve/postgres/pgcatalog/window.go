package pgcatalog

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/sqlparse/statement"
)

// A windowCall is a call with OVER.
type windowCall struct {
	name      string
	args      []*expr
	aggregate *aggregate
	partition []*expr
	keys      []sortKey
}

func (c *compiler) windowCall(s *scope, e *statement.Call) *expr {
	w := e.Over
	call := &windowCall{name: e.Name}
	definition := *w
	for _, name := range []string{w.Name, w.Refers} {
		for _, n := range s.named {
			if n.Name == name && name != "" {
				if len(definition.Partition) == 0 {
					definition.Partition = n.Partition
				}
				if len(definition.Order) == 0 {
					definition.Order = n.Order
				}
				definition.Framed = definition.Framed || n.Framed
			}
		}
	}
	if definition.Framed {
		fail(unsupported, "frames of windows are not supported")
	}
	var typ oid
	if c.is(e, 'a') {
		plain := *e
		plain.Over = nil
		call.aggregate = c.makeAggregate(s, &plain)
		typ = call.aggregate.call.result
	} else {
		call.args = c.exprs(s, e.Args)
		proc, params := c.find(e, call.args)
		if proc == nil {
			typ = c.unknown(e, call.args).typ
		} else {
			actual := types(call.args)
			for i, x := range call.args {
				call.args[i] = c.coerceParam(x, params[i], params, actual)
			}
			typ = c.concrete(proc.result, params, actual)
		}
	}
	call.partition = c.exprs(s, definition.Partition)
	for _, o := range definition.Order {
		call.keys = append(call.keys, sortKey{position: -1, expr: c.expr(s, o.Expr), desc: o.Desc, nullsFirst: o.NullsFirst})
	}
	i := len(s.windows)
	s.windows = append(s.windows, call)
	return &expr{typ: typ, mod: -1, name: e.Name, eval: func(f *frame) any {
		if i < len(f.wins) {
			return f.wins[i]
		}
		return nil
	}}
}

// overWindows keeps all rows, computes the calls with OVER, and gives the rows again.
func (c *compiler) overWindows(f *frame, s *scope, frames func(*frame, func() bool), give func() bool) {
	type kept struct {
		rows [][]any
		aggs []any
		wins []any
	}
	var all []*kept
	frames(f, func() bool {
		f.q.hold(len(f.rows) + len(f.aggs) + len(s.windows) + 6)
		all = append(all, &kept{slices.Clone(f.rows), f.aggs, make([]any, len(s.windows))})
		return true
	})
	set := func(k *kept) { copy(f.rows, k.rows); f.aggs, f.wins = k.aggs, k.wins }
	for i, w := range s.windows {
		parts := map[string][]outRow{}
		var order []string
		for n, k := range all {
			set(k)
			var id []byte
			for _, e := range w.partition {
				id = key(id, e.eval(f))
			}
			row := outRow{values: []any{int64(n)}}
			for _, e := range w.keys {
				row.keys = append(row.keys, e.expr.eval(f))
			}
			if parts[string(id)] == nil {
				order = append(order, string(id))
			}
			parts[string(id)] = append(parts[string(id)], row)
		}
		for _, id := range order {
			part := parts[id]
			sortRows(f.q, part, w.keys)
			at := func(n int) *kept { return all[part[n].values[0].(int64)] }
			peers := func(a, b int) bool { return compareList(part[a].keys, part[b].keys) == 0 }
			w.compute(f, len(part), peers, func(n int) { set(at(n)) }, func(n int, v any) { at(n).wins[i] = v })
		}
	}
	for _, k := range all {
		if set(k); !give() {
			return
		}
	}
}

// compute gives the values of a call in one partition of n rows in order.
func (w *windowCall) compute(f *frame, n int, peers func(a, b int) bool, set func(int), give func(int, any)) {
	if w.aggregate != nil { // to the last of the row's peers
		state := w.aggregate.start()
		for from := 0; from < n; {
			to := from
			for to < n && peers(from, to) {
				set(to)
				w.aggregate.add(f, state)
				to++
			}
			v := state.result(f.q)
			for ; from < to; from++ {
				give(from, v)
			}
		}
		return
	}
	value := func(row, arg int) any {
		if row < 0 || row >= n || arg >= len(w.args) {
			return nil
		}
		set(row)
		return w.args[arg].eval(f)
	}
	rank, dense := int64(0), int64(0)
	for i := range n {
		f.q.tick(1)
		if i == 0 || !peers(i-1, i) {
			rank, dense = int64(i+1), dense+1
		}
		switch w.name {
		case "row_number":
			give(i, int64(i+1))
		case "rank":
			give(i, rank)
		case "dense_rank":
			give(i, dense)
		case "lag", "lead":
			by := int64(1)
			if v, ok := value(i, 1).(int64); ok {
				by = v
			}
			if w.name == "lag" {
				by = -by
			}
			v := value(i+int(by), 0)
			if at := i + int(by); at < 0 || at >= n {
				v = value(i, 2)
			}
			give(i, v)
		case "first_value":
			give(i, value(0, 0))
		case "last_value":
			last := i
			for last+1 < n && peers(i, last+1) {
				last++
			}
			give(i, value(last, 0))
		}
	}
}
