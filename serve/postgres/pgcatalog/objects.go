package pgcatalog

import (
	"strconv"
	"strings"
)

// rowWhere returns the first row of a relation of pg_catalog with a value in a column.
func (d *database) rowWhere(name, column string, v any) (get func(string) any, ok bool) {
	for _, row := range d.rowsWhere(name, column, v) {
		return row, true
	}
	return nil, false
}

// rowsWhere returns the rows of a relation of pg_catalog with a value in a column.
func (d *database) rowsWhere(name, column string, v any) (out []func(string) any) {
	r := d.relations["pg_catalog."+name]
	at := func(column string) int {
		for i, c := range r.columns {
			if c.name == column {
				return i
			}
		}
		return 0
	}
	rows, ok := d.rows(r).lookup(at(column), v)
	if !ok {
		return nil
	}
	for _, row := range rows {
		out = append(out, func(column string) any { return row[at(column)] })
	}
	return out
}

// A class is where the objects of a type of references stand.
type class struct{ relation, name, namespace string }

func classOf(t oid) class {
	switch t {
	case oidRegclass:
		return class{"pg_class", "relname", "relnamespace"}
	case oidRegtype:
		return class{"pg_type", "typname", "typnamespace"}
	case oidRegproc, oidRegprocedure:
		return class{"pg_proc", "proname", "pronamespace"}
	case oidRegoper, oidRegoperator:
		return class{"pg_operator", "oprname", "oprnamespace"}
	case oidRegnamespace:
		return class{"pg_namespace", "nspname", ""}
	case oidRegrole:
		return class{"pg_authid", "rolname", ""}
	case oidRegcollation:
		return class{"pg_collation", "collname", "collnamespace"}
	case oidRegconfig:
		return class{"pg_ts_config", "cfgname", "cfgnamespace"}
	}
	return class{"pg_ts_dict", "dictname", "dictnamespace"}
}

// objectName writes a reference to an object.
func (d *database) objectName(t oid, n int64) string {
	if n == 0 {
		return "-"
	}
	if t == oidRegtype {
		if name := d.formatType(n, -1); name != "???" {
			return name
		}
		return strconv.FormatInt(n, 10)
	}
	c := classOf(t)
	get, ok := d.rowWhere(c.relation, "oid", n)
	if !ok {
		return strconv.FormatInt(n, 10)
	}
	name, _ := get(c.name).(string)
	if t != oidRegoper && t != oidRegoperator {
		name = quote(name)
	}
	if c.namespace != "" {
		if space, _ := get(c.namespace).(int64); space != nsCatalog && space != nsPublic {
			name = quote(d.spaceName(space)) + "." + name
		}
	}
	if t == oidRegoperator {
		var args []string
		for _, side := range []string{"oprleft", "oprright"} {
			arg := "NONE"
			if n, _ := get(side).(int64); n != 0 {
				arg = d.formatType(n, -1)
			}
			args = append(args, arg)
		}
		name += "(" + strings.Join(args, ",") + ")"
	}
	if t == oidRegprocedure {
		if p := d.byProc[n]; p != nil {
			var args []string
			for _, a := range p.args {
				args = append(args, d.formatType(a, -1))
			}
			name += "(" + strings.Join(args, ",") + ")"
		}
	}
	return name
}

func (d *database) spaceName(n oid) string {
	if get, ok := d.rowWhere("pg_namespace", "oid", n); ok {
		return get("nspname").(string)
	}
	return ""
}

// formatType writes a type, declared ones too.
func (d *database) formatType(t oid, mod int32) string {
	if d.types[t] != nil {
		return d.typeName(t, mod)
	}
	get, ok := d.rowWhere("pg_type", "oid", t)
	if !ok {
		return "???"
	}
	if elem, _ := get("typelem").(int64); elem != 0 {
		return d.formatType(elem, mod) + "[]"
	}
	name := quote(get("typname").(string))
	if space, _ := get("typnamespace").(int64); space != nsPublic {
		name = quote(d.spaceName(space)) + "." + name
	}
	return name
}

// object finds what a text of a type of references names, and fails where there is nothing.
func (q *query) object(t oid, text string) any {
	s := strings.TrimSpace(text)
	if s == "-" {
		return int64(0)
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return q.fit(oidOID, n)
	}
	n, full := q.lookupObject(t, s)
	if n == 0 {
		switch t {
		case oidRegclass:
			fail(noTable, "relation %q does not exist", full)
		case oidRegproc, oidRegprocedure, oidRegoper, oidRegoperator:
			fail(noFunction, "function %q does not exist", full)
		case oidRegnamespace:
			fail("3F000", "schema %q does not exist", full)
		case oidRegtype:
			fail(noObject, "type %q does not exist", full)
		case oidRegrole:
			fail(noObject, "role %q does not exist", full)
		}
		fail(noObject, "object %q does not exist", full)
	}
	return n
}

// objects finds what each of an array of texts names.
func (q *query) objects(t oid, names any) any {
	a, ok := names.(*array)
	if !ok {
		return names
	}
	out := &array{elem: t, lower: a.lower, items: make([]any, len(a.items))}
	q.hold(len(a.items))
	for i, item := range a.items {
		switch item := item.(type) {
		case *array:
			out.items[i] = q.objects(t, item)
		case string:
			q.tick(16) // it is looked up
			out.items[i] = q.object(t, item)
		}
	}
	return out
}

// reference says that values of a type are numbers of objects, and their texts names.
func reference(t oid) bool {
	switch t {
	case oidRegclass, oidRegtype, oidRegproc, oidRegprocedure, oidRegnamespace, oidRegrole, oidRegcollation, oidRegoper, oidRegoperator, oidRegconfig, oidRegdictionary:
		return true
	}
	return false
}

// lookupObject returns the number of what a text names, or 0, and the name as it was read.
func (q *query) lookupObject(t oid, s string) (n int64, full string) {
	if t == oidRegtype {
		return q.namedType(s), s
	}
	var args string
	if t == oidRegprocedure || t == oidRegoperator {
		if i := strings.IndexByte(s, '('); i >= 0 {
			s, args = s[:i], s[i:]
		}
	}
	parts := splitName(s)
	if len(parts) == 0 || len(parts) > 3 {
		fail("42602", "invalid name syntax")
	}
	name := parts[len(parts)-1]
	full = strings.Join(parts, ".")
	c := classOf(t)
	var space oid = -1
	if len(parts) > 1 {
		get, ok := q.rowWhere("pg_namespace", "nspname", parts[len(parts)-2])
		if !ok {
			return 0, full
		}
		space = get("oid").(int64)
	}
	best := int64(0)
	for _, get := range q.rowsWhere(c.relation, c.name, name) {
		found := get("oid").(int64)
		if args != "" && t == oidRegprocedure && q.objectName(oidRegprocedure, found) != quote(name)+strings.ReplaceAll(args, ", ", ",") {
			continue
		}
		if c.namespace == "" {
			return found, full
		}
		switch in := get(c.namespace).(int64); {
		case space == in:
			return found, full
		case space < 0 && in == nsCatalog:
			return found, full
		case space < 0 && in == nsPublic:
			best = found
		}
	}
	return best, full
}

// splitName takes a qualified name apart, as it is written in SQL.
func splitName(s string) (parts []string) {
	for rest := s; ; {
		var part string
		if strings.HasPrefix(rest, `"`) {
			var b strings.Builder
			i := 1
			for ; i < len(rest); i++ {
				if rest[i] == '"' {
					if i+1 < len(rest) && rest[i+1] == '"' {
						i++
					} else {
						break
					}
				}
				b.WriteByte(rest[i])
			}
			if i >= len(rest) {
				return nil
			}
			part, rest = b.String(), rest[i+1:]
		} else {
			i := strings.IndexByte(rest, '.')
			if i < 0 {
				i = len(rest)
			}
			part, rest = strings.ToLower(strings.TrimSpace(rest[:i])), rest[i:]
		}
		if parts = append(parts, part); part == "" {
			return nil
		}
		rest = strings.TrimSpace(rest)
		if rest == "" {
			return parts
		}
		if rest[0] != '.' {
			return nil
		}
		rest = strings.TrimSpace(rest[1:])
	}
}

// namedType returns the number of a type as SQL names it, or 0.
func (q *query) namedType(s string) oid {
	array := false
	s = strings.TrimSpace(s)
	if t, ok := strings.CutSuffix(s, "[]"); ok {
		s, array = strings.TrimSpace(t), true
	}
	if i := strings.IndexByte(s, '('); i > 0 { // a modifier says nothing of the type
		end := strings.IndexByte(s, ')')
		if end < i {
			return 0
		}
		s = strings.TrimSpace(s[:i] + s[end+1:])
	}
	if t, ok := synonyms[strings.Join(strings.Fields(strings.ToLower(s)), " ")]; ok {
		s = t
	}
	parts := splitName(s)
	if len(parts) == 0 || len(parts) > 2 {
		return 0
	}
	var found oid
	for _, get := range q.rowsWhere("pg_type", "typname", parts[len(parts)-1]) {
		space := get("typnamespace").(int64)
		switch {
		case len(parts) == 2 && q.spaceName(space) != parts[0]:
			continue
		case len(parts) == 1 && space != nsCatalog && (space != nsPublic || found != 0):
			continue
		}
		if found = get("oid").(int64); array {
			found = get("typarray").(int64)
		}
		if space == nsCatalog {
			break
		}
	}
	return found
}

func toObject(t oid) function {
	return func(q *query, _ *invocation, a []any) (v any) {
		s, _ := a[0].(string)
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
		if n, _ := q.lookupObject(t, s); n != 0 {
			return n
		}
		return nil
	}
}

// visible says whether an object is found without its schema.
func visible(relation, namespace string) function {
	return func(q *query, _ *invocation, a []any) any {
		get, ok := q.rowWhere(relation, "oid", a[0])
		if !ok {
			return nil
		}
		space := get(namespace)
		return space == nsCatalog || space == nsPublic
	}
}

func formatType(q *query, _ *invocation, a []any) any {
	t, ok := a[0].(int64)
	if !ok {
		return nil
	}
	if t == 0 {
		return "-"
	}
	mod := int32(-1)
	m, given := a[1].(int64)
	if given {
		mod = int32(m)
	}
	if given && t == oidBpchar && mod < 0 {
		return "bpchar"
	}
	return q.formatType(t, mod)
}

// relationName writes a relation with its schema.
func (d *database) relationName(n oid, always bool) string {
	get, ok := d.rowWhere("pg_class", "oid", n)
	if !ok {
		return ""
	}
	space := get("relnamespace").(int64)
	name := quote(get("relname").(string))
	if always || space != nsPublic && space != nsCatalog {
		name = quote(d.spaceName(space)) + "." + name
	}
	return name
}
