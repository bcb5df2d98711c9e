package propose

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/sqltype"
)

const engineHead = `
# Where the records are. The URL stands in that variable of the environment, never in a file.
[engine]
kind = %s
url = { env = %s }
`

// Database returns the text of a catalog at path for tables of a database, by their names
// there; for all of the schema public that the role may read if none is named. A name of two parts
// is, of Trino, a schema, and stands for all tables of it. It takes names and types from the
// database's own catalog, and looks at no row.
func Database(ctx context.Context, owner engine.Owner, path string, e catalog.Engine, names []string) (string, error) {
	o, ok := owner.(engine.Relator)
	if !ok {
		return "", refusal("engine %q has no tables that are looked at", e.Kind)
	}
	var found []engine.Relation
	for _, name := range names {
		s, why, hint := catalog.ParseName(name)
		if why != "" {
			return "", refusal("%q names no table", name).Because("%s", why).Try("%s", hint)
		}
		if e.Kind == catalog.Trino && s.Database == "" && strings.Contains(name, ".") {
			all, err := readable(ctx, o, s.Schema, s.Table)
			if err != nil {
				return "", err
			}
			if len(all) == 0 {
				return "", refusal("the user is shown no table of %s", name).Because("a name of two parts stands for all tables of a schema").Try("name a table, as in lake.clinic.visits")
			}
			found = append(found, all...)
			continue
		}
		r, err := o.Relation(ctx, s.Database, s.Schema, s.Table)
		if err != nil {
			return "", err
		}
		if r.Problem != "" {
			return "", refusal("no catalog can be proposed for %s", name).Because("%s", r.Problem).Try("%s", r.Hint)
		}
		found = append(found, r)
	}
	if len(names) == 0 && e.Kind == catalog.Trino {
		return "", refusal("name the tables").Because("a cluster has no schema that is everybody's").Try("discreet init --engine trino lake.clinic.visits names one, and lake.clinic all of its schema")
	}
	if len(names) == 0 {
		var err error
		if found, err = readable(ctx, o, "", "public"); err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", refusal("the role may read no table of schema public").Try("name tables, as in discreet init --engine %s clinic.visits", e.Kind)
		}
	}
	var tables []table
	taken := map[string]bool{}
	for _, r := range found {
		t := table{name: unused(baseName(r.Name+".table"), taken), source: nameOf(r.Database, r.Schema, r.Name), holder: "table"}
		for _, c := range r.Columns {
			column := native(c, e.Kind)
			if len(c.To) == 3 {
				column.refersTo, column.referred = nameOf("", c.To[0], c.To[1]), c.To[2]
			}
			t.columns = append(t.columns, column)
		}
		if !exclude(t.columns) {
			return "", refusal("%s has no columns that a catalog could declare", t.source)
		}
		tables = append(tables, t)
	}
	return finish(path, fmt.Sprintf(engineHead, quote(string(e.Kind)), quote(e.Variable)), tables)
}

// readable are the tables of a schema in whose way nothing stands.
func readable(ctx context.Context, o engine.Relator, database, schema string) (found []engine.Relation, err error) {
	all, err := o.Relations(ctx, database, schema)
	for _, r := range all {
		if r.Problem == "" {
			found = append(found, r)
		}
	}
	return found, err
}

func nameOf(database, schema, name string) string {
	return catalog.Source{Database: database, Schema: schema, Table: name}.Name()
}

// kinds maps types of PostgreSQL, by their names in pg_type, to those of a catalog.
var kinds = map[string]sqltype.Kind{
	"bool": sqltype.Boolean, "int2": sqltype.Smallint, "int4": sqltype.Integer, "int8": sqltype.Bigint, "float4": sqltype.Real, "float8": sqltype.Double,
	"text": sqltype.Text, "varchar": sqltype.Text, "bpchar": sqltype.Text, "name": sqltype.Text, "uuid": sqltype.Text, "enum": sqltype.Text,
	"date": sqltype.DateKind, "time": sqltype.TimeKind, "timestamp": sqltype.TimestampKind, "timestamptz": sqltype.TimestampKind, "interval": sqltype.IntervalKind,
}

// trinoKinds are those of Trino's, without their parameters.
var trinoKinds = map[string]sqltype.Kind{
	"boolean": sqltype.Boolean, "tinyint": sqltype.Smallint, "smallint": sqltype.Smallint, "integer": sqltype.Integer, "bigint": sqltype.Bigint, "real": sqltype.Real, "double": sqltype.Double,
	"varchar": sqltype.Text, "char": sqltype.Text, "uuid": sqltype.Text, "date": sqltype.DateKind, "time": sqltype.TimeKind, "timestamp": sqltype.TimestampKind,
}

// native is a column of a database.
func native(c engine.Native, of catalog.Kind) column {
	if of == catalog.Trino {
		return ofTrino(c)
	}
	out := column{name: c.Name, once: c.Key}
	kind, known := kinds[c.Native]
	switch {
	case c.Denied:
		out.note = "the role may not read it, or it is computed when it is read"
	case c.Native == "numeric":
		out.typ, out.guessed, out.note = sqltype.DecimalOf(38, 10), true, "the database sets no number of digits"
		if digits, ok := strings.CutPrefix(strings.TrimSuffix(c.Type, ")"), "numeric("); ok {
			p, s, _ := strings.Cut(digits, ",")
			precision, err := strconv.Atoi(p)
			scale, err2 := strconv.Atoi(s)
			if err == nil && err2 == nil && precision <= 38 && scale >= 0 && scale <= precision {
				out.typ, out.guessed, out.note = sqltype.DecimalOf(uint8(precision), uint8(scale)), false, ""
			}
		}
	case !known:
		out.note = "no type of a catalog can hold its values"
	case c.Native == "timestamptz":
		out.typ, out.guessed, out.note = sqltype.Of(kind), true, "the table has instants; this is their time in UTC"
	default:
		out.typ = sqltype.Of(kind)
	}
	return out
}

// ofTrino is a column of Trino, whose type is one that the renderer reads.
func ofTrino(c engine.Native) column {
	out := column{name: c.Name}
	name, digits, _ := strings.Cut(c.Native, "(")
	kind, known := trinoKinds[name]
	if name == "decimal" {
		var precision, scale uint8
		if n, _ := fmt.Sscanf(digits, "%d,%d", &precision, &scale); n == 2 {
			out.typ = sqltype.DecimalOf(precision, scale)
			return out
		}
	}
	_, reads := derive.TrinoField(c.Name, c.Native, sqltype.Of(kind))
	switch zoned := strings.HasSuffix(c.Native, " with time zone"); {
	case !known || !reads:
		out.note = "no type of a catalog can hold its values"
	case zoned:
		out.typ, out.guessed, out.note = sqltype.Of(kind), true, "the table has instants; this is their time in UTC"
	default:
		out.typ = sqltype.Of(kind)
	}
	return out
}
