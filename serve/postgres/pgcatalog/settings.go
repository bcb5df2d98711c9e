package pgcatalog

import (
	"slices"
	"strconv"
	"strings"
)

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

func currentSchemas(_ *query, _ *invocation, a []any) any {
	list := &array{elem: oidName, lower: 1}
	if a[0] == true {
		list.items = append(list.items, "pg_catalog")
	}
	list.items = append(list.items, "public")
	return list
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
