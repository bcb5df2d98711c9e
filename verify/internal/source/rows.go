package source

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// columns makes the slices of a local slice of structs, a slice for each number of theirs;
// false if t is none, or has no number.
func (l *lowerer) columns(name string, t types.Type, pos token.Pos) (*record, bool) {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return nil, false
	}
	u, ok := s.Elem().Underlying().(*types.Struct)
	if !ok || !columnar(u) {
		return nil, false
	}
	return l.column(name, u, pos), true
}

// rowsOf makes rows that have no name yet.
func (l *lowerer) rowsOf(t types.Type, pos token.Pos) (rows, bool) {
	columns, ok := l.columns(l.frame.prefix+"slice", t, pos)
	return rows{columns}, ok
}

// columnar reports whether a struct is of numbers and truths, at least one, and structs of
// such.
func columnar(u *types.Struct) bool {
	for i := range u.NumFields() {
		t := u.Field(i).Type()
		if inner, ok := t.Underlying().(*types.Struct); ok && columnar(inner) {
			continue
		}
		if _, ok := heldSort(t); !ok || isError(t) {
			return false
		}
	}
	return u.NumFields() > 0
}

func (l *lowerer) column(name string, u *types.Struct, pos token.Pos) *record {
	r := newRecord(u, nil)
	for i := range r.fields {
		f := u.Field(i)
		if inner, ok := f.Type().Underlying().(*types.Struct); ok {
			r.fields[i] = l.column(name+"."+f.Name(), inner, pos)
			continue
		}
		sort, _ := heldSort(f.Type())
		v := l.variable(name+"."+f.Name(), sort, pos)
		v.Slice = true
		r.fields[i] = slice{v}
	}
	return r
}

// all are the slices of rows, in the order of the fields.
func (r rows) all() (vs []*program.Variable) {
	var visit func(r *record)
	visit = func(r *record) {
		for _, f := range r.fields {
			switch f := f.(type) {
			case slice:
				vs = append(vs, f.v)
			case *record:
				visit(f)
			}
		}
	}
	visit(r.columns)
	return vs
}

// row is the struct at an index as it is now: of out[out[0].next] = r, one of the columns
// that is set says where.
func (l *lowerer) row(r rows, index program.Expression, pos token.Pos) *record {
	own := map[*program.Variable]bool{}
	for _, v := range r.all() {
		own[v] = true
	}
	return r.at(l.keep(index, program.Int, own, pos))
}

// at is the struct at an index.
func (r rows) at(index program.Expression) *record {
	var pick func(r *record) *record
	pick = func(r *record) *record {
		row := newRecord(r.typ, nil)
		row.moves = true
		for i, f := range r.fields {
			switch f := f.(type) {
			case slice:
				row.fields[i] = element{f.v, index}
			case *record:
				row.fields[i] = pick(f)
			}
		}
		return row
	}
	return pick(r.columns)
}

// makeRows makes them of a length.
func (l *lowerer) makeRows(r rows, length program.Expression, pos token.Pos) {
	for _, v := range r.all() {
		l.emit(program.Make{At: program.At{Pos: pos}, To: v, Length: length})
	}
}

// copyRows makes r what from is.
func (l *lowerer) copyRows(r, from rows, pos token.Pos) {
	to, of := r.all(), from.all()
	for i, v := range to {
		l.emit(program.Assign{At: program.At{Pos: pos}, To: v, Value: program.Ref{Var: of[i]}})
	}
}

// appendRows emits append(r, args...).
func (l *lowerer) appendRows(r rows, e *ast.CallExpr) {
	if e.Ellipsis.IsValid() {
		l.refuse(e.Pos(), "appending this", "it is outside the subset", "append structs one by one")
	}
	var values []entity
	for _, a := range e.Args[1:] {
		values = append(values, l.eval(a))
	}
	for _, v := range values {
		l.addRow(r, v, e.Pos())
	}
}

func (l *lowerer) addRow(r rows, v entity, pos token.Pos) {
	row, ok := v.(*record)
	if !ok {
		l.refuse(pos, "appending "+v.what(), "it is outside the subset", "append a struct")
	}
	var add func(to, row *record)
	add = func(to, row *record) {
		for i, f := range to.fields {
			switch f := f.(type) {
			case slice:
				x, ok := l.value(row.field(i)).(term)
				if !ok {
					l.refuse(pos, "this struct", "it is outside the subset", "")
				}
				l.emit(program.Append{At: program.At{Pos: pos}, To: f.v, Value: x.x})
			case *record:
				inner, ok := row.field(i).(*record)
				if !ok {
					l.refuse(pos, "this struct", "it is outside the subset", "")
				}
				add(f, inner)
			}
		}
	}
	add(r.columns, row)
}

// adopt gives rows a name if nothing but this expression knows them yet.
func (l *lowerer) adopt(r rows, name string, pos token.Pos) bool {
	vs := r.all()
	for _, v := range vs {
		if !l.temporaries[v] {
			return false
		}
	}
	var rename func(name string, r *record)
	rename = func(name string, r *record) {
		for i, f := range r.fields {
			path := name + "." + r.typ.Field(i).Name()
			switch f := f.(type) {
			case slice:
				delete(l.temporaries, f.v)
				f.v.Name, f.v.Pos = l.unique(path), pos
			case *record:
				rename(path, f)
			}
		}
	}
	rename(name, r.columns)
	return true
}

func (l *lowerer) temporaryRows(r rows) rows {
	for _, v := range r.all() {
		l.temporaries[v] = true
	}
	return r
}
