package pgcatalog

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

// owner is the number of the account's role, which owns all that there is.
const owner oid = 10

// A database is PostgreSQL's system catalog with what a session's owner declares.
type database struct {
	*knowledge
	session     *Session
	ctx         context.Context // of the query
	service     map[string]*relation
	extra       map[string][][]any // rows of relations of pg_catalog
	tables      map[*relation]*table
	numbers     map[oid]string
	definitions map[oid]string // of views
	declared    map[string]*typeInfo
	patterns    patterns
}

func open(ctx context.Context, k *knowledge, session *Session) *database {
	d := &database{knowledge: k, session: session, ctx: ctx, service: map[string]*relation{}, extra: map[string][][]any{}, tables: map[*relation]*table{},
		numbers: map[oid]string{}, definitions: map[oid]string{}, declared: map[string]*typeInfo{}, patterns: patterns{}}
	if session.Database == "" {
		session.Database = "discreet"
	}
	d.declare()
	return d
}

func (d *database) now() time.Time { return d.session.Now.UTC() }

func (d *database) versionText() string {
	return "PostgreSQL " + d.version + " (Discreet)"
}

// rows returns the rows of a relation that is no view.
func (d *database) rows(r *relation) *table {
	t := d.tables[r]
	if t == nil {
		t = &table{}
		if r.parse != nil {
			t.rows = r.parse()
		}
		if more := d.extra[r.name]; r.schema == "pg_catalog" && len(more) > 0 {
			t.rows = slices.Concat(t.rows, more)
		}
		if r.name == "pg_settings" {
			t.rows = d.settingRows(r, t.rows)
		}
		d.tables[r] = t
	}
	return t
}

// settingRows gives the settings of the session their values.
func (d *database) settingRows(r *relation, rows [][]any) [][]any {
	out := make([][]any, len(rows))
	at := slices.IndexFunc(r.columns, func(c column) bool { return c.name == "setting" })
	for i, row := range rows {
		out[i] = slices.Clone(row)
		if v, ok := d.setting(row[0].(string)); ok {
			out[i][at] = v
		}
	}
	return out
}

// number gives an object a number that it keeps while others come and go.
func (d *database) number(kind, name string) oid {
	h := fnv.New32a()
	_, _ = h.Write([]byte(kind + "\x00" + name)) // never fails
	n := oid(h.Sum32()>>2) + 1<<20
	for d.numbers[n] != "" {
		n++
	}
	d.numbers[n] = kind + " " + name
	return n
}

// row adds a row to a relation of pg_catalog: the values that are given, and for the others the
// zero of the type where it may not be NULL by habit, else NULL.
func (d *database) row(name string, values map[string]any) {
	r := d.relations["pg_catalog."+name]
	row := make([]any, len(r.columns))
	for i, c := range r.columns {
		v, ok := values[c.name]
		if !ok {
			v = d.zero(c.typ)
		}
		row[i] = v
	}
	d.extra[name] = append(d.extra[name], row)
}

func (d *database) zero(t oid) any {
	switch {
	case t == oidBool:
		return false
	case integer(t):
		return int64(0)
	case float(t):
		return 0.0
	case t == oidNumeric:
		return new(big.Rat)
	case t == oidChar:
		return ""
	}
	return nil
}

// A declaredColumn is a column of a relation that is declared.
type declaredColumn struct {
	name, comment string
	typ           sqltype.Type
	key           bool
}

// typeOf returns PostgreSQL's type.
func pgType(t sqltype.Type) (oid, int32) {
	switch t.Kind {
	case sqltype.Boolean:
		return oidBool, -1
	case sqltype.Smallint:
		return oidInt2, -1
	case sqltype.Integer:
		return oidInt4, -1
	case sqltype.Bigint:
		return oidInt8, -1
	case sqltype.Real:
		return oidFloat4, -1
	case sqltype.Double:
		return oidFloat8, -1
	case sqltype.DecimalKind:
		if t.Precision == 0 { // any
			return oidNumeric, -1
		}
		return oidNumeric, int32(t.Precision)<<16 | int32(t.Scale) + 4
	case sqltype.DateKind:
		return oidDate, -1
	case sqltype.TimeKind:
		return oidTime, -1
	case sqltype.TimestampKind:
		return oidTimestamp, -1
	case sqltype.IntervalKind:
		return oidInterval, -1
	}
	return oidText, -1
}

// declare adds the rows of the account, the database, and what the catalog declares.
func (d *database) declare() {
	s := d.session
	d.row("pg_authid", map[string]any{"oid": owner, "rolname": s.Account, "rolinherit": true, "rolcanlogin": true, "rolconnlimit": int64(-1)})
	d.row("pg_database", map[string]any{"oid": d.number("database", s.Database), "datname": s.Database, "datdba": owner, "encoding": int64(6), "datlocprovider": "c",
		"datallowconn": true, "datconnlimit": int64(-1), "dattablespace": int64(1663), "datcollate": "C.UTF-8", "datctype": "C.UTF-8",
		"datfrozenxid": int64(1), "datminmxid": int64(1)})
	space := d.number("namespace", service)
	d.row("pg_namespace", map[string]any{"oid": space, "nspname": service, "nspowner": owner})
	d.describe(space, 2615, 0, "the account's budget, history and tables")
	for _, r := range s.Service {
		var columns []declaredColumn
		for _, f := range r.Fields {
			columns = append(columns, declaredColumn{name: f.Name, typ: f.Type, comment: f.Comment})
		}
		n := d.relate(space, service+".", r.Name, "r", r.Comment, columns)
		d.service[r.Name] = d.told(n, r)
	}
	c := s.Catalog
	if c == nil {
		return
	}
	keys := map[*catalog.Column]bool{}
	for _, t := range c.Tables {
		if t.Unit.Kind == catalog.UnitReference && t.Unit.Referred != nil {
			if _, seen := c.Table(t.Unit.References.Name); seen {
				keys[t.Unit.Referred] = true
			}
		}
	}
	for _, t := range c.Tables {
		var columns []declaredColumn
		for _, col := range t.Columns {
			columns = append(columns, declaredColumn{name: col.Name, typ: col.Type, comment: columnComment(c, t, col), key: keys[col]})
		}
		d.relate(nsPublic, "", t.Name, "r", tableComment(t), columns)
	}
	for _, v := range c.Views {
		var columns []declaredColumn
		for _, f := range s.Views[v.Name] {
			columns = append(columns, declaredColumn{name: f.Name, typ: f.Type, comment: f.Comment})
		}
		n := d.relate(nsPublic, "", v.Name, "v", "", columns)
		d.definitions[n] = d.viewText(c, v, columns)
	}
	for _, t := range c.Tables {
		if t.Unit.Kind == catalog.UnitReference && t.Unit.Column != nil && keys[t.Unit.Referred] {
			d.reference(t)
		}
	}
}

// told is a relation of the schema discreet, whose rows are read when they are needed.
func (d *database) told(number oid, r Relation) *relation {
	out := &relation{oid: number, schema: service, name: r.Name}
	for _, f := range r.Fields {
		t, mod := pgType(f.Type)
		out.columns = append(out.columns, column{name: f.Name, typ: t, mod: mod})
	}
	if r.Rows == nil {
		return out
	}
	out.parse = func() [][]any {
		rows, err := r.Rows(d.ctx)
		if err != nil {
			fail("58000", "%s.%s cannot be read now", service, r.Name)
		}
		all := make([][]any, len(rows))
		for i, row := range rows {
			all[i] = make([]any, len(row))
			for j, text := range row {
				if text != nil {
					all[i][j] = d.read(out.columns[j].typ, *text)
				}
			}
		}
		return all
	}
	return out
}

// viewText is a view's query where the account may see all that it names; a query of the same
// columns where not.
func (d *database) viewText(c *catalog.Catalog, v *catalog.View, columns []declaredColumn) string {
	if v.Query != nil && namesOnly(c, v.Query.Text) {
		return " " + strings.TrimSuffix(strings.TrimSpace(v.Query.Text), ";") + ";"
	}
	var items []string
	for _, col := range columns {
		t, mod := pgType(col.typ)
		items = append(items, fmt.Sprintf("NULL::%s AS %s", d.typeName(t, mod), quote(col.name)))
	}
	return " SELECT " + strings.Join(items, ",\n    ") + ";"
}

// relate adds the rows of a relation and returns its number.
func (d *database) relate(namespace oid, prefix, name, kind, comment string, columns []declaredColumn) oid {
	n := d.number("class", prefix+name)
	row, list := d.number("type", prefix+name), d.number("type", prefix+"_"+name)
	var key []any
	for i, c := range columns {
		if c.key {
			key = append(key, int64(i+1))
		}
	}
	am := int64(2)
	if kind == "v" {
		am = 0
	}
	class := map[string]any{"oid": n, "relname": name, "relnamespace": namespace, "reltype": row, "relowner": owner, "relam": am,
		"reltuples": -1.0, "relpersistence": "p", "relkind": kind, "relnatts": int64(len(columns)), "relhasindex": len(key) > 0, "relreplident": "d", "relispopulated": true}
	if kind == "v" {
		class["reltuples"], class["relreplident"], class["relhasrules"] = 0.0, "n", true
	}
	d.row("pg_class", class)
	d.row("pg_type", map[string]any{"oid": row, "typname": name, "typnamespace": namespace, "typowner": owner, "typlen": int64(-1), "typtype": "c", "typcategory": "C",
		"typisdefined": true, "typdelim": ",", "typrelid": n, "typarray": list, "typinput": int64(2290), "typoutput": int64(2291), "typreceive": int64(2402),
		"typsend": int64(2403), "typalign": "d", "typstorage": "x", "typtypmod": int64(-1)})
	d.row("pg_type", map[string]any{"oid": list, "typname": "_" + name, "typnamespace": namespace, "typowner": owner, "typlen": int64(-1), "typtype": "b", "typcategory": "A",
		"typisdefined": true, "typdelim": ",", "typelem": row, "typsubscript": int64(6179), "typinput": int64(750), "typoutput": int64(751), "typreceive": int64(2400),
		"typsend": int64(2401), "typanalyze": int64(3816), "typalign": "d", "typstorage": "x", "typtypmod": int64(-1)})
	d.declared[d.spaceOf(prefix)+"."+name] = &typeInfo{oid: row, namespace: namespace, name: name, kind: 'c', category: 'C', array: list, relation: n, length: -1}
	if kind == "r" {
		d.systemAttributes(n)
	}
	for i, c := range columns {
		t, mod := pgType(c.typ)
		d.attribute(n, c.name, int64(i+1), t, mod, c.key)
		d.describe(n, 1259, int64(i+1), c.comment)
	}
	if kind == "v" {
		d.row("pg_rewrite", map[string]any{"oid": d.number("rule", prefix+name), "rulename": "_RETURN", "ev_class": n, "ev_type": "1", "ev_enabled": "O", "is_instead": true})
	}
	d.describe(n, 1259, 0, comment)
	if len(key) > 0 {
		d.primaryKey(n, namespace, prefix, name, key, columns)
	}
	return n
}

func (d *database) spaceOf(prefix string) string {
	if prefix == "" {
		return "public"
	}
	return strings.TrimSuffix(prefix, ".")
}

// systemAttributes are those that every table has unasked.
func (d *database) systemAttributes(n oid) {
	for _, a := range []struct {
		name   string
		number int64
		typ    oid
	}{{"tableoid", -6, oidOID}, {"cmax", -5, oidCID}, {"xmax", -4, oidXID}, {"cmin", -3, oidCID}, {"xmin", -2, oidXID}, {"ctid", -1, oidTID}} {
		d.attribute(n, a.name, a.number, a.typ, -1, true)
	}
}

func (d *database) attribute(relation oid, name string, number int64, t oid, mod int32, notNull bool) {
	info := d.types[t]
	d.row("pg_attribute", map[string]any{"attrelid": relation, "attname": name, "atttypid": t, "attstattarget": map[bool]int64{true: 0, false: -1}[number < 0],
		"attlen": int64(info.length), "attnum": number, "attcacheoff": int64(-1), "atttypmod": int64(mod), "attbyval": info.byValue, "attalign": info.align,
		"attstorage": info.storage, "attnotnull": notNull, "attislocal": true, "attcollation": info.collation})
}

func (d *database) describe(object, class oid, part int64, text string) {
	if text != "" {
		d.row("pg_description", map[string]any{"objoid": object, "classoid": class, "objsubid": part, "description": text})
	}
}

// primaryKey adds the index and the constraint of a column that others refer to.
func (d *database) primaryKey(table, namespace oid, prefix, name string, key []any, columns []declaredColumn) {
	title := name + "_pkey"
	index := d.number("class", prefix+title)
	d.row("pg_class", map[string]any{"oid": index, "relname": title, "relnamespace": namespace, "relowner": owner, "relam": int64(403),
		"relpages": int64(1), "reltuples": 0.0, "relpersistence": "p", "relkind": "i", "relnatts": int64(len(key)), "relreplident": "n", "relispopulated": true})
	var operators, collations, options []any
	for i, k := range key {
		col := columns[k.(int64)-1]
		t, mod := pgType(col.typ)
		class := int64(0)
		for _, o := range d.rowsWhere("pg_opclass", "opcintype", t) {
			if o("opcmethod") == int64(403) && o("opcdefault") == true {
				class = o("oid").(int64)
			}
		}
		operators, collations, options = append(operators, class), append(collations, d.types[t].collation), append(options, int64(0))
		d.attribute(index, col.name, int64(i+1), t, mod, false)
	}
	vector := func(elem oid, items []any) *array { return &array{elem: elem, items: items} }
	d.row("pg_index", map[string]any{"indexrelid": index, "indrelid": table, "indnatts": int64(len(key)), "indnkeyatts": int64(len(key)), "indisunique": true,
		"indisprimary": true, "indimmediate": true, "indisvalid": true, "indisready": true, "indislive": true, "indkey": vector(oidInt2, key),
		"indcollation": vector(oidOID, collations), "indclass": vector(oidOID, operators), "indoption": vector(oidInt2, options)})
	d.row("pg_constraint", map[string]any{"oid": d.number("constraint", prefix+title), "conname": title, "connamespace": namespace, "contype": "p",
		"convalidated": true, "conrelid": table, "conindid": index, "confupdtype": " ", "confdeltype": " ", "confmatchtype": " ", "conislocal": true,
		"connoinherit": true, "conkey": &array{elem: oidInt2, lower: 1, items: key}})
}

// reference adds the foreign key of a table whose rows find their unit in another.
func (d *database) reference(t *catalog.Table) {
	at := func(t *catalog.Table, c *catalog.Column) any { return int64(slices.Index(t.Columns, c) + 1) }
	from, ok := d.rowWhere("pg_class", "relname", t.Name)
	to, fine := d.rowWhere("pg_class", "relname", t.Unit.References.Name)
	index, found := d.rowWhere("pg_class", "relname", t.Unit.References.Name+"_pkey")
	if !ok || !fine || !found {
		return
	}
	list := func(items ...any) *array { return &array{elem: oidInt2, lower: 1, items: items} }
	equal := int64(0)
	if typ, _ := pgType(t.Unit.Column.Type); true {
		for _, o := range d.rowsWhere("pg_operator", "oprname", "=") {
			if o("oprleft") == typ && o("oprright") == typ {
				equal = o("oid").(int64)
			}
		}
	}
	operators := &array{elem: oidOID, lower: 1, items: []any{equal}}
	name := t.Name + "_" + t.Unit.Column.Name + "_fkey"
	d.row("pg_constraint", map[string]any{"oid": d.number("constraint", name), "conname": name, "connamespace": nsPublic, "contype": "f", "convalidated": true,
		"conrelid": from("oid"), "conindid": index("oid"), "confrelid": to("oid"), "confupdtype": "a", "confdeltype": "a", "confmatchtype": "s", "conislocal": true,
		"connoinherit": true, "conkey": list(at(t, t.Unit.Column)), "confkey": list(at(t.Unit.References, t.Unit.Referred)),
		"conpfeqop": operators, "conppeqop": operators, "conffeqop": operators})
	d.tables = map[*relation]*table{} // rows were added to what was looked up
}

// declaredType finds the type of the rows of a relation that is declared.
func (d *database) declaredType(schema, name string) *typeInfo { return d.declared[schema+"."+name] }

func tableComment(t *catalog.Table) string {
	if t.Public {
		return "public"
	}
	var parts []string
	switch t.Unit.Kind {
	case catalog.UnitRow:
		parts = append(parts, "private; each row is a unit")
	case catalog.UnitReference:
		parts = append(parts, fmt.Sprintf("private; the unit is found by %s", t.Unit.Column.Name))
	default:
		parts = append(parts, fmt.Sprintf("private; the unit is %s", t.Unit.Column.Name))
	}
	if t.Domain != nil {
		parts = append(parts, "domain "+t.Domain.ID)
	}
	if t.MaxGroups > 0 {
		parts = append(parts, "at most "+diagnostic.Count(t.MaxGroups, "group")+" a unit")
	}
	if t.MaxRows > 0 {
		parts = append(parts, "at most "+diagnostic.Count(t.MaxRows, "row")+" a unit and group")
	}
	if t.MaxUnitRows > 0 {
		parts = append(parts, "at most "+diagnostic.Count(t.MaxUnitRows, "row")+" a unit")
	}
	return strings.Join(parts, "; ")
}

// listed is how many values of a public domain a comment shows.
const listed = 12

func columnComment(c *catalog.Catalog, t *catalog.Table, col *catalog.Column) string {
	var parts []string
	if !t.Public && t.Unit.Column == col {
		parts = append(parts, "privacy unit")
	}
	if col.Lower != nil && col.Upper != nil {
		parts = append(parts, "from "+sqltype.Format(col.Lower)+" to "+sqltype.Format(col.Upper))
	}
	if d := col.Domain; d != nil {
		switch {
		case d.FromTable != nil:
			text := "public domain"
			if _, seen := c.Table(d.FromTable.Name); seen {
				text += ": " + d.FromTable.Name + "." + d.FromColumn.Name
			}
			parts = append(parts, text)
		case d.Step != nil:
			parts = append(parts, "public domain: steps of "+d.Step.RatString())
		default:
			var values []string
			for i, v := range d.Values {
				if i == listed {
					values = append(values, "...")
					break
				}
				values = append(values, sqltype.Format(v))
			}
			parts = append(parts, "public domain: "+strings.Join(values, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
