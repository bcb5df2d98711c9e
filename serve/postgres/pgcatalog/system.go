package pgcatalog

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// compressed holds system, a sixth of its size in the command.
//
//go:embed system.txt.gz
var compressed []byte

// system returns the rows of PostgreSQL's own catalog, as a fresh server has them: see
// TestSystemIsThatOfAServer, which makes them. It panics where the file is damaged: tests
// read what every build embeds.
func system() string {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil {
			return string(text)
		}
	}
	panic(fmt.Errorf("read system.txt.gz: %w", err))
}

// A column is one of a relation or of a result.
type column struct {
	name string
	typ  oid
	mod  int32

	fields []column // of a record, where they are known
}

// A relation is what a name of the system catalog stands for.
type relation struct {
	oid          oid
	schema, name string
	columns      []column
	block        *block // its rows in system, or nil
	parse        func() [][]any
}

// A block is a relation's part of system.
type block struct {
	fixed map[string]string // columns with one value
	names []string          // the others
	lines []string
}

// A procedure is a function or an aggregate.
type procedure struct {
	oid, namespace, result oid
	name                   string
	kind                   byte // 'f', 'a', 'w', 'p'
	set, variadic, strict  bool
	args                   []oid
	required               int
	out                    []column // of a function of records
	variadicElement        oid
}

// An operation is an operator on two types, or on one (left is 0).
type operation struct {
	name                string
	left, right, result oid
}

// A typeInfo is a type.
type typeInfo struct {
	oid, namespace, elem, array, base, relation oid
	name                                        string
	kind, category                              byte // typtype, typcategory
	preferred                                   bool
	length                                      int16
	mod                                         int32 // of a domain's base
	byValue                                     bool
	align, storage                              string
	collation                                   oid
}

// A cast is an implicit way ('i'), or one in assignments ('a') or by request ('e').
type castKey struct{ from, to oid }

// A settingInfo is a setting as pg_settings has it.
type settingInfo struct{ value, unit string }

// A knowledge is PostgreSQL's system catalog: shared by all sessions and never written.
type knowledge struct {
	version    string
	relations  map[string]*relation // by schema.name
	types      map[oid]*typeInfo
	typeNames  map[string]*typeInfo // by schema.name
	procedures map[string][]*procedure
	byProc     map[oid]*procedure
	operators  map[string][]*operation
	casts      map[castKey]byte
	settings   map[string]settingInfo
	words      *block // of pg_get_keywords
}

// namespaces of the system, which have the same number everywhere.
const (
	nsCatalog oid = 11
	nsToast   oid = 99
	nsPublic  oid = 2200
)

func load(text string) *knowledge {
	k := &knowledge{relations: map[string]*relation{}, types: map[oid]*typeInfo{}, typeNames: map[string]*typeInfo{},
		procedures: map[string][]*procedure{}, byProc: map[oid]*procedure{}, operators: map[string][]*operation{}, casts: map[castKey]byte{}, settings: map[string]settingInfo{}}
	head, rest, _ := strings.Cut(text, "\n")
	_, k.version, _ = strings.Cut(head, "\t")
	blocks := map[string]*block{}
	for part := range strings.SplitSeq(rest, "\n\n") {
		head, body, _ := strings.Cut(part, "\n")
		fields := strings.Split(head, "\t")
		b := &block{fixed: map[string]string{}}
		for _, f := range fields[1:] {
			if name, value, ok := strings.Cut(f, "="); ok {
				b.fixed[name] = value
			} else {
				b.names = append(b.names, f)
			}
		}
		if body = strings.TrimSuffix(body, "\n"); body != "" {
			b.lines = strings.Split(body, "\n")
		}
		blocks[fields[0]] = b
	}
	namespaces := map[oid]string{}
	blocks["pg_namespace"].each(func(get func(string) string) { namespaces[number(get("oid"))] = get("nspname") })
	byOID := map[oid]*relation{}
	blocks["pg_class"].each(func(get func(string) string) {
		if kind := get("relkind"); kind != "r" && kind != "v" || get("relnamespace") == "99" {
			return
		}
		r := &relation{oid: number(get("oid")), schema: namespaces[number(get("relnamespace"))], name: get("relname")}
		byOID[r.oid] = r
		k.relations[r.schema+"."+r.name] = r
	})
	blocks["pg_attribute"].each(func(get func(string) string) {
		if r := byOID[number(get("attrelid"))]; r != nil && get("attnum")[0] != '-' {
			r.columns = append(r.columns, column{name: get("attname"), typ: number(get("atttypid")), mod: int32(number(get("atttypmod")))})
		}
	})
	blocks["pg_type"].each(func(get func(string) string) {
		length, _ := strconv.ParseInt(get("typlen"), 10, 16)
		t := &typeInfo{oid: number(get("oid")), namespace: number(get("typnamespace")), name: get("typname"), kind: get("typtype")[0], category: get("typcategory")[0],
			preferred: get("typispreferred") == "t", elem: number(get("typelem")), array: number(get("typarray")), base: number(get("typbasetype")),
			relation: number(get("typrelid")), length: int16(length), mod: int32(number(get("typtypmod"))), byValue: get("typbyval") == "t", align: get("typalign"), storage: get("typstorage"), collation: number(get("typcollation"))}
		k.types[t.oid] = t
		k.typeNames[namespaces[t.namespace]+"."+t.name] = t
	})
	blocks["pg_proc"].each(func(get func(string) string) { k.procedure(get) })
	blocks["pg_operator"].each(func(get func(string) string) {
		o := &operation{get("oprname"), number(get("oprleft")), number(get("oprright")), number(get("oprresult"))}
		k.operators[o.name] = append(k.operators[o.name], o)
	})
	blocks["pg_cast"].each(func(get func(string) string) {
		k.casts[castKey{number(get("castsource")), number(get("casttarget"))}] = get("castcontext")[0]
	})
	blocks["pg_settings"].each(func(get func(string) string) {
		k.settings[strings.ToLower(get("name"))] = settingInfo{get("setting"), get("unit")}
	})
	k.words = blocks["pg_get_keywords"]
	for name, b := range blocks {
		if r := k.relations["pg_catalog."+name]; r != nil {
			r.block = b
			r.parse = sync.OnceValue(func() [][]any { return k.parse(r) })
		}
	}
	return k
}

func (k *knowledge) procedure(get func(string) string) {
	p := &procedure{oid: number(get("oid")), namespace: number(get("pronamespace")), name: get("proname"), result: number(get("prorettype")),
		kind: get("prokind")[0], set: get("proretset") == "t", strict: get("proisstrict") == "t", variadicElement: number(get("provariadic"))}
	p.variadic = p.variadicElement != 0
	for arg := range strings.FieldsSeq(get("proargtypes")) {
		p.args = append(p.args, number(arg))
	}
	p.required = len(p.args) - int(number(get("pronargdefaults")))
	if all := get("proallargtypes"); all != `\N` {
		types, modes, names := list(all), list(get("proargmodes")), list(get("proargnames"))
		for i, mode := range modes {
			if mode == "o" || mode == "t" || mode == "b" {
				c := column{typ: number(types[i]), mod: -1}
				if i < len(names) {
					c.name = names[i]
				}
				p.out = append(p.out, c)
			}
		}
	}
	k.procedures[p.name] = append(k.procedures[p.name], p)
	k.byProc[p.oid] = p
}

// keywords returns the rows of pg_get_keywords.
func (k *knowledge) keywords() (rows [][]any) {
	k.words.each(func(get func(string) string) {
		rows = append(rows, []any{get("word"), get("catcode"), get("barelabel") == "t", get("catdesc"), get("baredesc")})
	})
	return rows
}

// list splits an array of the file whose items need no quotes.
func list(s string) []string {
	if s = strings.Trim(s, "{}"); s == "" || s == `\N` {
		return nil
	}
	items := strings.Split(s, ",")
	for i := range items {
		items[i] = strings.Trim(items[i], `"`)
	}
	return items
}

func number(s string) oid {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// each calls row with a getter for each row.
func (b *block) each(row func(get func(string) string)) {
	at := map[string]int{}
	for i, n := range b.names {
		at[n] = i
	}
	var fields []string
	get := func(name string) string {
		if i, ok := at[name]; ok {
			return fields[i]
		}
		return b.fixed[name]
	}
	for _, line := range b.lines {
		fields = strings.Split(line, "\t")
		row(get)
	}
}

// parse reads the rows of a relation.
func (k *knowledge) parse(r *relation) [][]any {
	if r.block == nil {
		return nil
	}
	unescape := strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
	value := func(c column, s string) any {
		if s == `\N` {
			return nil
		}
		if strings.Contains(s, `\`) {
			s = unescape.Replace(s)
		}
		if c.typ == oidRegproc {
			return number(s)
		}
		return k.read(c.typ, s)
	}
	at := make([]int, len(r.columns))
	fixed := make([]any, len(r.columns))
	for i, c := range r.columns {
		if at[i] = slices.Index(r.block.names, c.name); at[i] < 0 {
			fixed[i] = value(c, r.block.fixed[c.name])
		}
	}
	rows := make([][]any, len(r.block.lines))
	for n, line := range r.block.lines {
		fields := strings.Split(line, "\t")
		row := slices.Clone(fixed)
		for i, c := range r.columns {
			if at[i] >= 0 {
				row[i] = value(c, fields[at[i]])
			}
		}
		rows[n] = row
	}
	return rows
}
