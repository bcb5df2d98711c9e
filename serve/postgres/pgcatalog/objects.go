package pgcatalog

import (
	"fmt"
	"slices"
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

func currentSchemas(_ *query, _ *invocation, a []any) any {
	list := &array{elem: oidName, lower: 1}
	if a[0] == true {
		list.items = append(list.items, "pg_catalog")
	}
	list.items = append(list.items, "public")
	return list
}

// setting returns the value of a setting: that of the session, or PostgreSQL's own.
func (d *database) setting(name string) (string, bool) {
	name = strings.ToLower(name)
	if d.session.Settings != nil {
		if v, ok := d.session.Settings(name); ok {
			return v, true
		}
	}
	switch name {
	case "server_version":
		return d.version, true
	case "is_superuser":
		return "off", true
	case "session_authorization":
		return d.session.Account, true
	case "search_path":
		return `"$user", public`, true
	}
	v, ok := d.settings[name]
	return v.value, ok
}

// shown writes a setting as SHOW does, in the largest unit that it is whole in.
func (d *database) shown(name, value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	unit := d.settings[strings.ToLower(name)].unit
	if err != nil || n <= 0 || unit == `\N` || unit == "" {
		return value
	}
	digits := strings.TrimRight(unit, "kMGTBmsindh")
	if factor, err := strconv.ParseInt(digits, 10, 64); err == nil {
		n, unit = n*factor, unit[len(digits):]
	}
	units, factors := []string{"B", "kB", "MB", "GB", "TB"}, []int64{1024, 1024, 1024, 1024}
	if !strings.HasSuffix(unit, "B") {
		units, factors = []string{"us", "ms", "s", "min", "h", "d"}, []int64{1000, 1000, 60, 60, 24}
	}
	at := slices.Index(units, unit)
	for at >= 0 && at < len(factors) && n%factors[at] == 0 {
		n, at = n/factors[at], at+1
	}
	if at >= 0 {
		unit = units[at]
	}
	return strconv.FormatInt(n, 10) + unit
}

func currentSetting(q *query, _ *invocation, a []any) any {
	name := a[0].(string)
	v, ok := q.setting(name)
	switch {
	case ok:
		return q.shown(name, v)
	case len(a) > 1 && a[1] == true:
		return nil
	}
	fail(noObject, "unrecognized configuration parameter %q", name)
	return nil
}

// encodings are PostgreSQL's, by number.
var encodings = strings.Fields(`SQL_ASCII EUC_JP EUC_CN EUC_KR EUC_TW EUC_JIS_2004 UTF8 MULE_INTERNAL LATIN1 LATIN2 LATIN3 LATIN4 LATIN5 LATIN6 LATIN7
LATIN8 LATIN9 LATIN10 WIN1256 WIN1258 WIN866 WIN874 KOI8R WIN1251 WIN1252 ISO_8859_5 ISO_8859_6 ISO_8859_7 ISO_8859_8 WIN1250 WIN1253 WIN1254
WIN1255 WIN1257 KOI8U SJIS BIG5 GBK UHC GB18030 JOHAB SHIFT_JIS_2004`)

func encodingName(_ *query, _ *invocation, a []any) any {
	n := a[0].(int64)
	if n < 0 || n >= int64(len(encodings)) {
		return ""
	}
	return encodings[n]
}

func encodingNumber(_ *query, _ *invocation, a []any) any {
	return int64(slices.Index(encodings, strings.ToUpper(strings.ReplaceAll(a[0].(string), "-", ""))))
}

func userByID(q *query, _ *invocation, a []any) any {
	if a[0] == owner {
		return q.session.Account
	}
	return fmt.Sprintf("unknown (OID=%d)", a[0])
}

// hasRole says whether the account is in a role: in its own.
func hasRole(q *query, _ *invocation, a []any) any {
	role := a[len(a)-2]
	return role == owner || role == q.session.Account
}

// hasPrivilege says what the account may do with an object: look at it.
func hasPrivilege(q *query, v *invocation, a []any) any {
	if strings.HasSuffix(v.proc.name, "table_privilege") || strings.HasSuffix(v.proc.name, "column_privilege") {
		for i, x := range a[:len(a)-1] {
			if n, ok := x.(int64); ok && v.types[i] == oidOID && (i > 0 || len(a) == 2 || strings.HasPrefix(v.proc.name, "has_column") && len(a) == 3) {
				if _, found := q.rowWhere("pg_class", "oid", n); !found {
					return nil
				}
				break
			}
		}
	}
	asked, _ := a[len(a)-1].(string)
	for p := range strings.SplitSeq(asked, ",") {
		switch strings.ToUpper(strings.TrimSpace(p)) {
		case "SELECT", "USAGE", "CONNECT", "EXECUTE":
			return true
		}
	}
	return false
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

// aclDefault gives the privileges that an object has where none were granted.
func aclDefault(q *query, _ *invocation, a []any) any {
	who := "unknown"
	if a[1] == owner {
		who = quote(q.session.Account)
	}
	of := map[string][2]string{"r": {"", "arwdDxt"}, "s": {"", "rwU"}, "d": {"Tc", "CTc"}, "f": {"X", "X"}, "l": {"U", "U"}, "L": {"", "rw"}, "n": {"", "UC"},
		"t": {"", "C"}, "F": {"", "U"}, "S": {"", "U"}, "T": {"U", "U"}, "p": {"", "sA"}}
	list := &array{elem: oidACL, lower: 1}
	kind, _ := a[0].(string)
	if everyone := of[kind][0]; everyone != "" {
		list.items = append(list.items, "="+everyone+"/"+who)
	}
	if own := of[kind][1]; own != "" {
		list.items = append(list.items, who+"="+own+"/"+who)
	}
	return list
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

// What information_schema says of types. The first argument is a row of pg_attribute, the
// second one of pg_type.

func fieldOf(v any, name string) any {
	r, ok := v.(*record)
	if !ok {
		return nil
	}
	for i, c := range r.columns {
		if c.name == name && i < len(r.values) {
			return r.values[i]
		}
	}
	return nil
}

func trueType(_ *query, _ *invocation, a []any) any {
	if fieldOf(a[1], "typtype") == "d" {
		return fieldOf(a[1], "typbasetype")
	}
	return fieldOf(a[0], "atttypid")
}

func trueModifier(_ *query, _ *invocation, a []any) any {
	if fieldOf(a[1], "typtype") == "d" {
		return fieldOf(a[1], "typtypmod")
	}
	return fieldOf(a[0], "atttypmod")
}

func charLength(_ *query, _ *invocation, a []any) any {
	t, mod := a[0].(int64), a[1].(int64)
	switch {
	case mod == -1:
		return nil
	case t == oidBpchar || t == oidVarchar:
		return mod - 4
	case t == oidBit || t == oidVarbit:
		return mod
	}
	return nil
}

func charOctets(_ *query, _ *invocation, a []any) any {
	t, mod := a[0].(int64), a[1].(int64)
	switch t {
	case oidText, oidBpchar, oidVarchar:
		if mod == -1 {
			return int64(1 << 30)
		}
		return (mod - 4) * 4
	}
	return nil
}

func numericPrecision(_ *query, _ *invocation, a []any) any {
	mod := a[1].(int64)
	switch a[0] {
	case oidInt2:
		return int64(16)
	case oidInt4:
		return int64(32)
	case oidInt8:
		return int64(64)
	case oidFloat4:
		return int64(24)
	case oidFloat8:
		return int64(53)
	case oidNumeric:
		if mod == -1 {
			return nil
		}
		return (mod - 4) >> 16 & 0xffff
	}
	return nil
}

func numericRadix(_ *query, _ *invocation, a []any) any {
	switch a[0] {
	case oidInt2, oidInt4, oidInt8, oidFloat4, oidFloat8:
		return int64(2)
	case oidNumeric:
		return int64(10)
	}
	return nil
}

func numericScale(_ *query, _ *invocation, a []any) any {
	switch a[0] {
	case oidInt2, oidInt4, oidInt8:
		return int64(0)
	case oidNumeric:
		if mod := a[1].(int64); mod != -1 {
			return (mod - 4) & 0x7ff
		}
	}
	return nil
}

func datetimePrecision(_ *query, _ *invocation, a []any) any {
	mod := a[1].(int64)
	switch a[0] {
	case oidDate:
		return int64(0)
	case oidTime, oidTimetz, oidTimestamp, oidTimestamptz, oidInterval:
		if mod < 0 || a[0] == oidInterval && mod&0xffff == 0xffff {
			return int64(6)
		}
		return mod & 0xffff
	}
	return nil
}

func indexPosition(q *query, _ *invocation, a []any) any {
	get, ok := q.rowWhere("pg_index", "indexrelid", a[0])
	if !ok {
		return nil
	}
	if list, ok := get("indkey").(*array); ok {
		for i, n := range list.items {
			if n == a[1] {
				return int64(i + 1)
			}
		}
	}
	return nil
}
