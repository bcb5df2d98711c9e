package catalog

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const before = `
[domains.patient]
neighbours = "add-remove"
measure = "zcdp"
epsilon = 3
delta = 1e-7
selection_delta = 5e-8
units_elsewhere = true
[domains.other]
measure = "pure"
epsilon = 1
[defaults]
rho = 0.01
[resources]
memory = "4GB"
temp = "tmp"
[tables.visits]
source = "visits.csv"
domain = "patient"
also_in = ["other"]
unit = "patient_id"
max_groups_per_unit = 3
max_rows_per_group = 5
max_rows_per_unit = 9
malformed = "null"
[tables.visits.csv]
delimiter = ";"
[tables.visits.columns]
patient_id = { type = "integer" }
nurse_id = { type = "integer" }
age = { type = "integer", lower = 0, upper = 100 }
cost = { type = "double", lower = 0, upper = 10, sum_lower = 0, sum_upper = 20 }
day = { type = "integer", lower = 0, upper = 30, step = 2 }
ward = { type = "text", from = "Station", domain = ["a", "b"] }
place = { type = "text", domain = { from = "places.name" } }
old = { type = "boolean", is = "age > 70", domain = [true, false] }
[tables.places]
source = "places.csv"
public = true
[tables.places.columns]
name = { type = "text" }
code = { type = "text" }
[views.recent]
sql = "SELECT age FROM visits"
columns.age = { type = "integer", lower = 0, upper = 50 }
`

// Every change that could let more be learnt is named, by its key, and what is tighter or
// says nothing passes. The cases name each rule that can refuse.
func TestLoosened(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []struct{ old, fresh, want string }{
		{"", "", ""},
		{"# nothing", "# a comment", ""},
		{"memory = \"4GB\"", "memory = \"1GB\"", ""},
		{"rho = 0.01", "rho = 0.02", "defaults"},
		{"rho = 0.01", "epsilon = 0.01", "defaults"},
		{"rho = 0.01", "rho = 0.005\nconfidence = 0.9", ""},
		{"temp = \"tmp\"", "temp = \"/tmp\"", "resources.temp was tmp and is /tmp"},
		{"temp = \"tmp\"", "temp = \"tmp\"\ncopies = \"kept\"", "resources.copies"},
		{"temp = \"tmp\"", "temp = \"tmp\"\n[ledger]\nurl = { env = \"DISCREET_LEDGER\" }", "ledger"},
		{"\"add-remove\"", "\"replace-one\"", "domains.patient.neighbours"},
		{"measure = \"zcdp\"", "measure = \"gdp\"", "domains.patient.measure was zcdp and is gdp"},
		{"epsilon = 3", "epsilon = 4", "domains.patient.epsilon"},
		{"epsilon = 3", "epsilon = 2", "domains.patient.epsilon"},
		{"delta = 1e-7", "delta = 1e-6", "domains.patient.delta"},
		{"selection_delta = 5e-8", "selection_delta = 6e-8", "domains.patient.selection_delta"},
		{"selection_delta = 5e-8", "selection_delta = 5e-8\nfailure_suspends = \"account\"", "domains.patient.failure_suspends"},
		{"units_elsewhere = true\n", "", "domains.patient.units_elsewhere"},
		{"[defaults]", "[domains.third]\nmeasure = \"pure\"\nepsilon = 1\n[defaults]", "domains.third is new"},
		{`"visits.csv"`, `"all.csv"`, "tables.visits.source"},
		{"domain = \"patient\"\nalso_in = [\"other\"]", "domain = \"other\"\nalso_in = [\"patient\"]", "tables.visits.domain"},
		{`also_in = ["other"]`, "", ""},
		{`unit = "patient_id"`, `unit = "nurse_id"`, "tables.visits.unit"},
		{"max_groups_per_unit = 3", "max_groups_per_unit = 4", "tables.visits.max_groups_per_unit was 3 and is 4"},
		{"max_groups_per_unit = 3", "max_groups_per_unit = 2", ""},
		{"max_groups_per_unit = 3", "", "tables.visits.max_groups_per_unit"},
		{"max_rows_per_group = 5", "max_rows_per_group = 500", "tables.visits.max_rows_per_group"},
		{"max_rows_per_group = 5", "max_rows_per_group = 1", ""},
		{"max_rows_per_unit = 9", "max_rows_per_unit = 10", "tables.visits.max_rows_per_unit"},
		{"max_rows_per_unit = 9", "", "tables.visits.max_rows_per_unit"},
		{"max_rows_per_unit = 9", "max_rows_per_unit = 8", ""},
		{`malformed = "null"`, `malformed = "skip"`, "tables.visits.malformed"},
		{`delimiter = ";"`, `delimiter = ","`, "tables.visits.csv"},
		{"lower = 0, upper = 100", "lower = -1, upper = 100", "tables.visits.columns.age.lower"},
		{"lower = 0, upper = 100", "lower = 0, upper = 101", "tables.visits.columns.age.upper"},
		{"lower = 0, upper = 100", "lower = 18, upper = 65", ""},
		{", lower = 0, upper = 100", "", "tables.visits.columns.age.lower"},
		{"nurse_id = { type = \"integer\" }", "nurse_id = { type = \"integer\", lower = 0, upper = 9 }", "tables.visits.columns.nurse_id.lower"},
		{"sum_lower = 0", "mapped = false, sum_lower = 0", ""},
		{"sum_lower = 0", "mapped = true, sum_lower = 0", "tables.visits.columns.cost.mapped"},
		{"sum_lower = 0", "sum_lower = -1", "tables.visits.columns.cost.sum_lower"},
		{"sum_upper = 20", "sum_upper = 21", "tables.visits.columns.cost.sum_upper"},
		{"sum_upper = 20", "sum_upper = 19", ""},
		{", sum_lower = 0, sum_upper = 20", "", "tables.visits.columns.cost.sum_lower"},
		{"upper = 30, step = 2", "upper = 30, step = 1", "tables.visits.columns.day.domain"},
		{"upper = 30, step = 2", "upper = 20, step = 4", ""},
		{"lower = 0, upper = 30, step = 2", "lower = 1, upper = 29, step = 2", "tables.visits.columns.day.domain"},
		{`"a", "b"`, `"a", "b", "c"`, "tables.visits.columns.ward.domain"},
		{`"a", "b"`, `"b"`, ""},
		{`, domain = ["a", "b"]`, "", "tables.visits.columns.ward.domain"},
		{`domain = ["a", "b"]`, `domain = { from = "places.name" }`, "tables.visits.columns.ward.domain"},
		{"places.name", "places.code", "tables.visits.columns.place.domain"},
		{"Station", "Zimmer", "tables.visits.columns.ward.from"},
		{`type = "double"`, `type = "real"`, "tables.visits.columns.cost.type"},
		{"age > 70", "age > 60", "tables.visits.columns.old.is"},
		{`is = "age > 70", `, "", "tables.visits.columns.old.is"},
		{"nurse_id = {", "extra = { type = \"text\" }\nnurse_id = {", "tables.visits.columns.extra is new"},
		{"nurse_id = { type = \"integer\" }\n", "", ""},
		{"SELECT age", "SELECT age, ward", "views.recent.sql"},
		{"[views.recent]", "[views.more]\nsql = \"SELECT 1\"\n[views.recent]", "views.more is new"},
		{"[views.recent]\nsql = \"SELECT age FROM visits\"\ncolumns.age = { type = \"integer\", lower = 0, upper = 50 }\n", "", ""},
		{"upper = 50", "upper = 40", ""},
		{"upper = 50", "upper = 60", "views.recent.columns.age.upper"},
		{"\ncolumns.age = { type = \"integer\", lower = 0, upper = 50 }\n", "\n", "views.recent.columns.age is not there any more"},
		{"upper = 50 }\n", "upper = 50 }\ncolumns.ward = { type = \"text\", domain = [\"a\"] }\n", "views.recent.columns.ward is new"},
		{"[tables.places]", "[tables.more]\nsource = \"more.csv\"\npublic = true\n[tables.more.columns]\nx = { type = \"text\" }\n[tables.places]", "tables.more is new"},
	} {
		was, err := Parse("discreet.toml", before)
		if err != nil {
			t.Fatal(refusals(t, err))
		}
		text := strings.Replace(before, c.old, c.fresh, 1)
		if c.old != "" && c.old != "# nothing" && text == before {
			t.Fatalf("%q is not in the catalog", c.old)
		}
		is, err := Parse("discreet.toml", text)
		if err != nil {
			t.Fatalf("%q for %q: %s", c.fresh, c.old, refusals(t, err))
		}
		got := Loosened(was, is)
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%q for %q: %q", c.fresh, c.old, got)
		case c.want != "" && (len(got) == 0 || !strings.HasPrefix(got[0], c.want)):
			t.Errorf("%q for %q: %q, want %s", c.fresh, c.old, got, c.want)
		}
		if c.want != "" {
			place, _, _ := strings.Cut(c.want, " ")
			seen[place[strings.LastIndexByte(place, '.')+1:]] = true
		}
	}
	// A table's publicity, and what Parse cannot make, by hand.
	was, is := parsed(t), parsed(t)
	visits, _ := is.Table("visits")
	visits.Public = true
	if got := Loosened(was, is); !slices.Contains(got, "tables.visits.public was false and is true") {
		t.Errorf("public: %q", got)
	}
	if got := Loosened(is, was); len(got) > 0 {
		t.Errorf("what was public and is private: %q", got)
	}
	is = parsed(t)
	visits, _ = is.Table("visits")
	visits.AlsoIn = append(visits.AlsoIn, "third")
	visits.Mapping = &Mapping{}
	is.Path = "elsewhere.toml"
	is.Engine.Kind = PostgreSQL
	got := strings.Join(Loosened(was, is), "\n")
	for _, want := range []string{"tables.visits.also_in", "tables.visits.mapping", "path was discreet.toml", "engine"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	for _, key := range []string{"public", "also_in", "mapping", "path", "engine"} {
		seen[key] = true
	}
	for _, key := range refusing() {
		if !seen[key] {
			t.Errorf("no case loosens %s", key)
		}
	}
}

func parsed(t *testing.T) *Catalog {
	t.Helper()
	c, err := Parse("discreet.toml", before)
	if err != nil {
		t.Fatal(refusals(t, err))
	}
	return c
}

// refusing are the keys whose rules can refuse: all that have one.
func refusing() (keys []string) {
	keys = append(keys, keysOf(catalogRules())...)
	keys = append(keys, keysOf(resourceRules())...)
	keys = append(keys, keysOf(domainRules())...)
	keys = append(keys, keysOf(tableRules())...)
	keys = append(keys, keysOf(columnRules())...)
	return append(keys, keysOf(viewRules())...)
}

func keysOf[T any](rules []rule[T]) (keys []string) {
	for _, r := range rules {
		if r.key != "" {
			keys = append(keys, r.key)
		}
	}
	return keys
}

// Every field of what is compared has a rule, and every rule a field: who adds one decides
// what its change may do. Of the structs within fields, the rules look at these.
func TestEveryFieldHasARule(t *testing.T) {
	covered(t, catalogRules())
	covered(t, resourceRules())
	covered(t, domainRules())
	covered(t, tableRules())
	covered(t, columnRules())
	covered(t, viewRules())
	for of, want := range map[reflect.Type]string{
		reflect.TypeFor[Spend]():        "Epsilon Delta Rho",
		reflect.TypeFor[Source]():       "Text Format Path Pattern Schema Table Database",
		reflect.TypeFor[Unit]():         "Kind Column References Referred",
		reflect.TypeFor[PublicDomain](): "Values Lower Upper Step FromTable FromColumn",
		reflect.TypeFor[SQL]():          "Text catalog in whole at",
	} {
		if got := strings.Join(fields(of), " "); got != want {
			t.Errorf("%s has the fields %s; Loosened was written for %s", of, got, want)
		}
	}
	if len(missing([]rule[Resources]{{"Memory", "", free[Resources]}})) != 4 {
		t.Error("a field without a rule is not noticed")
	}
}

func fields(of reflect.Type) (names []string) {
	for i := range of.NumField() {
		names = append(names, of.Field(i).Name)
	}
	return names
}

func missing[T any](rules []rule[T]) (names []string) {
	for _, name := range fields(reflect.TypeFor[T]()) {
		if !slices.ContainsFunc(rules, func(r rule[T]) bool { return r.field == name }) {
			names = append(names, name)
		}
	}
	return names
}

func covered[T any](t *testing.T, rules []rule[T]) {
	t.Helper()
	for _, name := range missing(rules) {
		t.Errorf("%s.%s has no rule", reflect.TypeFor[T](), name)
	}
	for _, r := range rules {
		if _, ok := reflect.TypeFor[T]().FieldByName(r.field); !ok {
			t.Errorf("%s has no field %s", reflect.TypeFor[T](), r.field)
		}
	}
}
