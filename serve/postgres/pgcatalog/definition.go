package pgcatalog

import (
	"fmt"
	"strings"
)

// indexDefinition writes the statement that would make an index, or the name of one of its columns.
func indexDefinition(q *query, _ *invocation, a []any) any {
	get, ok := q.rowWhere("pg_index", "indexrelid", a[0])
	if !ok {
		return nil
	}
	table := get("indrelid").(int64)
	names := q.columnNames(table, get("indkey"))
	pretty := false
	if len(a) == 3 {
		n, _ := a[1].(int64)
		if n > 0 {
			if int(n) > len(names) {
				return ""
			}
			return names[n-1]
		}
		pretty = a[2] == true
	}
	unique := ""
	if get("indisunique") == true {
		unique = "UNIQUE "
	}
	index, _ := q.rowWhere("pg_class", "oid", a[0])
	return fmt.Sprintf("CREATE %sINDEX %s ON %s USING btree (%s)", unique, quote(index("relname").(string)), q.relationName(table, !pretty), strings.Join(names, ", "))
}

func constraintDefinition(q *query, _ *invocation, a []any) any {
	get, ok := q.rowWhere("pg_constraint", "oid", a[0])
	if !ok {
		return nil
	}
	table, _ := get("conrelid").(int64)
	keys := strings.Join(q.columnNames(table, get("conkey")), ", ")
	switch get("contype") {
	case "p":
		return "PRIMARY KEY (" + keys + ")"
	case "u":
		return "UNIQUE (" + keys + ")"
	case "f":
		to := get("confrelid").(int64)
		pretty := len(a) > 1 && a[1] == true
		return fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s(%s)", keys, q.relationName(to, !pretty && false), strings.Join(q.columnNames(to, get("confkey")), ", "))
	}
	return nil
}

func viewDefinition(q *query, _ *invocation, a []any) any {
	n, ok := a[0].(int64)
	if s, text := a[0].(string); text {
		n, _ = q.lookupObject(oidRegclass, s)
		ok = n != 0
	}
	if !ok {
		return nil
	}
	if text, ok := q.definitions[n]; ok {
		return text
	}
	return nil
}

func functionResult(q *query, _ *invocation, a []any) any {
	n, _ := a[0].(int64)
	p := q.byProc[n]
	if p == nil || p.kind == 'p' {
		return nil
	}
	name := q.formatType(p.result, -1)
	if p.set {
		name = "SETOF " + name
	}
	return name
}

func functionArguments(q *query, _ *invocation, a []any) any {
	get, ok := q.rowWhere("pg_proc", "oid", a[0])
	if !ok {
		return nil
	}
	types, _ := get("proargtypes").(*array)
	modes, _ := get("proargmodes").(*array)
	names, _ := get("proargnames").(*array)
	if all, ok := get("proallargtypes").(*array); ok {
		types = all
	}
	var out []string
	variadic := q.byProc[a[0].(int64)].variadicElement != 0
	for i, t := range types.items {
		s := ""
		if modes != nil {
			switch modes.items[i] {
			case "o":
				s = "OUT "
			case "b":
				s = "INOUT "
			case "v":
				s = "VARIADIC "
			case "t":
				continue
			}
		} else if variadic && i == len(types.items)-1 {
			s = "VARIADIC "
		}
		if names != nil {
			if name, _ := names.items[i].(string); name != "" {
				s += quote(name) + " "
			}
		}
		out = append(out, s+q.formatType(t.(int64), -1))
	}
	return strings.Join(out, ", ")
}

// columnNames returns the names of columns of a relation by their numbers.
func (d *database) columnNames(relation oid, numbers any) (out []string) {
	list, ok := numbers.(*array)
	if !ok {
		return nil
	}
	rows := d.rowsWhere("pg_attribute", "attrelid", relation)
	for _, n := range list.items {
		name := "?"
		for _, get := range rows {
			if get("attnum") == n {
				name = quote(get("attname").(string))
			}
		}
		out = append(out, name)
	}
	return out
}

// comment finds the description of an object.
func (d *database) comment(relation string, object, class, part any) any {
	for _, get := range d.rowsWhere(relation, "objoid", object) {
		if (class == nil || get("classoid") == class) && (part == nil || get("objsubid") == part) {
			return get("description")
		}
	}
	return nil
}

func description(shared bool) function {
	return func(q *query, _ *invocation, a []any) any {
		relation, part := "pg_description", any(int64(0))
		if shared {
			relation, part = "pg_shdescription", nil
		}
		var class any
		if len(a) > 1 {
			get, ok := q.rowWhere("pg_class", "relname", a[1])
			if !ok {
				return nil
			}
			class = get("oid")
		}
		return q.comment(relation, a[0], class, part)
	}
}

func columnDescription(q *query, _ *invocation, a []any) any {
	return q.comment("pg_description", a[0], int64(1259), a[1])
}

func publishable(q *query, _ *invocation, a []any) any {
	get, ok := q.rowWhere("pg_class", "oid", a[0])
	if !ok {
		return nil
	}
	return get("relkind") == "r" && a[0].(int64) >= 16384
}

func sizePretty(q *query, v *invocation, a []any) any {
	n, ok := a[0].(int64)
	if !ok {
		return q.write(v.types[0], a[0]) + " bytes"
	}
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB"}
	limit := int64(10 * 1024)
	if n < limit && n > -limit {
		return fmt.Sprintf("%d bytes", n)
	}
	n >>= 9
	i := 1
	for ; i < len(units)-1 && (n >= 20*1024-1 || n <= -20*1024+1); i++ {
		n >>= 10
	}
	return fmt.Sprintf("%d %s", (n+1)/2, units[i])
}
