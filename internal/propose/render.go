package propose

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/sqltype"
)

const preface = `# Proposed by ` + "`discreet init`" + `. What only you can decide is marked "?": write a value in
# place of each, or remove the key where that is offered. Until then every other
# command refuses this catalog.
#
# Bounds, domains and budgets come from what you know of the subject. Never copy
# the smallest and largest values of the data: they are private, and bounds are not.

# Who is protected? The id, "patient" say, is permanent: the budget belongs to it.
[domains."?"]
neighbours = "add-remove"  # or "replace-one"
measure = "?"              # "pure", "approx" or "zcdp"
epsilon = "?"              # the whole budget, as in 3.0
delta = "?"                # well below one over the number of units, as in 1e-7; remove it with "pure"

[defaults]
confidence = 0.95          # of intervals, for statements that don't say
`

const tableHead = `
[tables.%s]
source = %s
domain = "?"               # the id above; or write public = true in place of this and all down to the columns
unit = %s%s# %s
max_groups_per_unit = "?"  # in how many groups one unit is counted; remove both with unit = "row"
max_rows_per_group = "?"   # with how many rows in each
`

const columnsHead = `
[tables.%s.columns]  # remove what no statement needs: what is not declared does not exist
`

// render writes the proposal; where the tables are in a database, its engine first.
func render(engine string, tables []table) string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString(engine)
	for _, t := range tables {
		unit, once := unitColumn(t.columns)
		value, note := quote(unit+"?"), `the column that says whose row it is, or "row" if each row is a unit of its own`
		switch {
		case t.references != "":
			value, note = `"?"`, fmt.Sprintf("by the %s's foreign key { column = %s, references = %s }", cmp.Or(t.holder, "file"), quote(unit), quote(t.references))
		case once && t.holder != "":
			note = `it is a key of the table: does it identify the person, or only a visit?`
		case once:
			note = `no two of the first rows share it: does it identify the person, or only a visit?`
		}
		fmt.Fprintf(&b, tableHead, key(t.name), quote(t.source), value, strings.Repeat(" ", max(1, 27-len("unit = ")-len(value))), note)
		for _, remark := range t.remarks {
			fmt.Fprintf(&b, "# %s\n", remark)
		}
		b.WriteString(formText(t.name, t.form, t.said))
		fmt.Fprintf(&b, columnsHead, key(t.name))
		for i, c := range t.columns {
			if c.typ.Kind == sqltype.Null {
				fmt.Fprintf(&b, "# column %d, %s, cannot be declared: %s\n", i+1, quote(c.name), c.note)
				continue
			}
			b.WriteString(declaration(c, c.as == unit))
		}
	}
	return b.String()
}

// exclude takes the type from columns whose names a catalog cannot hold, and
// reports whether any column is left.
func exclude(columns []column) bool {
	seen := map[string]bool{}
	left := false
	for i := range columns {
		switch c := &columns[i]; {
		case c.typ.Kind == sqltype.Null:
		case catalog.BadName(c.name) != "":
			c.typ, c.note = sqltype.Type{}, "its name "+catalog.BadName(c.name)
		case seen[catalog.Fold(c.name)]:
			c.typ, c.note = sqltype.Type{}, "its name differs from another in case at most"
		default:
			seen[catalog.Fold(c.name)], left = true, true
		}
	}
	return left
}

func declaration(c column, isUnit bool) string {
	typ := c.typ.String()
	if c.guessed {
		typ += "?"
	}
	bounds := ""
	switch {
	case c.is != "":
		bounds = ", is = " + quote(c.is)
	case c.as != c.name:
		bounds = ", from = " + quote(c.name)
	}
	if (c.typ.IsNumeric() || c.typ.IsTemporal()) && !isUnit && !c.isKey() {
		bounds += `, lower = "?", upper = "?"`
	}
	note := ""
	if c.note != "" {
		note = "  # " + c.note
	}
	return fmt.Sprintf("%s = { type = %s%s }%s\n", key(c.as), quote(typ), bounds, note)
}

// unitColumn proposes a unit: a column that is called after a person, else a key that
// rows share, else one that no two rows share, which is rather the visit than the
// visitor. It returns "" for no idea.
func unitColumn(columns []column) (name string, once bool) {
	best := -1
	rank := func(c column) int {
		switch {
		case looksLikePerson(c.name):
			return 3
		case c.refersTo != "":
			return 2
		case !c.once:
			return 1
		}
		return 0
	}
	for i, c := range columns {
		if eligible := (c.typ.IsInteger() || c.typ.Kind == sqltype.Text) && !c.partition; !eligible || !c.isKey() && c.refersTo == "" {
			continue
		}
		if best < 0 || rank(c) > rank(columns[best]) {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	return columns[best].as, columns[best].once
}

// rename gives columns names that SQL reads without quotes, where it would not read their own
// so: Kunden-Nr and KundenNr are called kunden_nr. Where two would have one name, or it would be none, the
// file's stays.
func rename(columns []column) {
	own, proposed := map[string]int{}, map[string]int{}
	for _, c := range columns {
		if c.typ.Kind != sqltype.Null {
			own[catalog.Fold(c.name)]++
			proposed[catalog.Fold(unquoted(c.name))]++
		}
	}
	for i := range columns {
		c := &columns[i]
		c.as = unquoted(c.name)
		if as := catalog.Fold(c.as); proposed[as] > 1 || as != catalog.Fold(c.name) && own[as] > 0 {
			c.as = c.name
		}
	}
}

// camel is where a word begins within another: visitorId.
var camel = regexp.MustCompile(`(\p{Ll}|\d)(\p{Lu})`)

// unquoted is a name in lower case, with _ between words.
func unquoted(name string) string {
	words := strings.FieldsFunc(strings.ToLower(camel.ReplaceAllString(name, "${1}_$2")), func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	as := strings.Join(words, "_")
	if as == "" || unicode.IsDigit([]rune(as)[0]) || catalog.BadName(as) != "" || catalog.Reserved(as) {
		return name
	}
	return as
}

// refer makes a unit a reference where its column leads to a row of another table whose
// unit is another column: the visit of a prescription leads to the visit's patient.
func refer(tables []table) {
	for i := range tables {
		t := &tables[i]
		unit, _ := unitColumn(t.columns)
		for _, c := range t.columns {
			if c.as != unit || c.refersTo == "" {
				continue
			}
			file, _, _ := strings.Cut(t.source, "#")
			for j := range tables {
				if tables[j].source != file+"#"+c.refersTo && tables[j].source != c.refersTo {
					continue
				}
				at := slices.IndexFunc(tables[j].columns, func(to column) bool { return to.name == c.referred })
				if of, _ := unitColumn(tables[j].columns); of != "" && at >= 0 && of != tables[j].columns[at].as {
					t.references = tables[j].name + "." + tables[j].columns[at].as
				}
			}
		}
	}
}

// people are words for those whom data are about, and of what they have; in their singular and
// plural where keys are called after either.
const people = `person(?:en)?|people|kunden?|mitglied(?:er|s)?|mitarbeiters?|patient(?:en|in|innen)?|teilnehmer|(?:be)?nutzer|besucher|versicherten?|users?|customers?|clients?|` +
	`visitors?|members?|students?|employees?|subjects?|accounts?|citizens?|respondents?|participants?|passengers?|subscribers?`

var (
	// A key is called so: id, order_id, orderId, phone_no.
	keyLike = regexp.MustCompile(`^(?i:id)$|_(?i:id|nr|no)$|(?-i:Id|ID)$|(?i:^(pid|uid|uuid|guid)$)`)
	// Or after the person alone, with or without a word for a number: Kunde, customer, Kundennummer.
	personKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:` + people + `)[ _.-]*(?:id|nr|no|num|number|nummer|code|key|ref|kennung|schl(?:ü|ue)ssel)?\.?$`)
	})
	// Of other keys this says that they are a person's: ref_patient_id.
	person = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)` + people + `|pid$`)
	})
	// A word for many is called so where it counts them.
	crowd = regexp.MustCompile(`(?i)^(?:people|personen|kunden|mitglieder|patienten|patientinnen|versicherten|[a-z]+s)$`)
)

// looksLikeKey reports whether a column is called as keys are.
func looksLikeKey(name string) bool {
	return keyLike.MatchString(name) || personKey().MatchString(name) && !crowd.MatchString(name) && !strings.EqualFold(name, "subject") // of a mail
}

// looksLikePerson reports whether a key is called after a person.
func looksLikePerson(name string) bool { return person().MatchString(name) }

// isKey reports whether a column is called as keys are, and is no yes or no: member.
func (c column) isKey() bool {
	return looksLikeKey(c.name) && !(c.few && !keyLike.MatchString(c.name))
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// key writes a TOML key.
func key(name string) string {
	if bare.MatchString(name) {
		return name
	}
	return quote(name)
}

// quote writes a TOML basic string.
func quote(s string) string { return `"` + escape(s) + `"` }

func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsControl(r) || !unicode.IsPrint(r) && r != ' ':
			fmt.Fprintf(&b, "\\U%08X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
