//go:build cgo

package release_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/stability"
)

// Keys whose public domain a table lists, and keys made of them.
var publicKeys = []string{
	"SELECT s, count(*) FROM t0 GROUP BY s",
	"SELECT s, count(*), sum(i) FROM t0 GROUP BY s",
	"SELECT s, count(*), sum(i) FROM t0 WHERE s > 'a' AND s <> 'c' AND i BETWEEN 2 AND 12 GROUP BY s",
	"SELECT s, sum(CASE WHEN i > 3 THEN i END), avg(i) FILTER (WHERE i < 10) FROM (SELECT u, s, i FROM t0 WHERE s IN ('b', 'outside', 'x')) AS b GROUP BY s",
	"SELECT upper(s), count(*) FROM t0 GROUP BY upper(s)",
	"SELECT left(s, 1) || s, count(DISTINCT u) FROM t0 GROUP BY 1",
	"SELECT CASE WHEN s < 'b' THEN 'x' ELSE s END, count(*) FROM t0 GROUP BY 1",
	"SELECT upper(s), i / 5, avg(i) FROM t0 GROUP BY CUBE (1, 2)",
	"SELECT s, count(*) FROM (SELECT u, s, count(*) AS length FROM t0 GROUP BY u, s) AS b WHERE length < 9 GROUP BY s",
}

// publicExample has a unit, the first, that D' lacks: in every group that the public table lists, more than it may be in, and in others, which no other unit is in.
// The table lists values twice, and NULL.
func publicExample(statement string) *example {
	text := template{name: "s", typ: "text", kind: textual, quoted: true}
	number := template{name: "i", typ: "integer", kind: whole}
	u := column{template: template{name: "u", typ: "bigint", kind: whole}}
	x := &example{changed: "one", statements: []string{statement}, tables: []*table{
		{name: "p0", public: true, columns: []column{{template: text}}},
		{name: "t0", domain: "one", bounds: "max_groups_per_unit = 2\nmax_rows_per_group = 2\n", columns: []column{u,
			{template: text, declared: ", domain = { from = \"p0.s\" }"}, {template: number, declared: ", lower = 0, upper = 9", bounded: true}}}}}
	var gone, rest []row
	for i, s := range []string{"a", "b", "c", "outside", "Other", "aa"} {
		for range 3 {
			gone = append(gone, row{"1", s, "9"})
		}
		if i < 3 {
			rest = append(rest, row{"2", s, fmt.Sprint(i)}, row{"3", s, "4"}, row{"3", nil, "4"})
		}
	}
	public := []row{{"a"}, {"b"}, {"a"}, {nil}, {"c"}}
	x.d, x.e = database{"p0": public, "t0": append(gone, rest...)}, database{"p0": public, "t0": rest}
	x.text = x.catalog()
	return x
}

// TestPublicValuesAreSound holds the theorem of Public (internal/stability/public.go): groups are those of the values that a public table lists, whatever rows
// private tables have, and what is made of them differs by no more than its certificate says. Each planted fault breaks that.
func TestPublicValuesAreSound(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	holds := func(p pipeline, from string) (broken string) {
		p.public = true
		for _, statement := range publicKeys {
			x := publicExample(statement)
			cat, err := catalog.Parse("catalog.toml", x.text)
			if err != nil {
				t.Fatal(err)
			}
			if from != "" { // where values are believed to be listed
				cat.Tables[1].Columns[1].Domain.FromTable = &catalog.Table{Name: from, Public: true}
			}
			var groups [2]string
			for i, schema := range []string{"d", "e"} {
				certificate, err := m.certify(t.Context(), x, p, schema, statement, cat)
				if err != nil {
					t.Fatalf("%s\n%v", statement, err)
				}
				for _, r := range certificate.Releases {
					if r.Private {
						t.Fatalf("%s chooses its groups privately", statement)
					}
					for _, k := range r.Keys {
						if slices.ContainsFunc(k.Domain, func(d *catalog.PublicDomain) bool { return d.FromTable != nil }) {
							t.Fatalf("the domain of %s in %s is not read", k.Name, statement)
						}
						for _, d := range k.Domain {
							groups[i] += fmt.Sprint(r.MaxGroups, k.Name, d.Values, d.Lower, d.Upper, "\n")
						}
					}
				}
			}
			if groups[0] != groups[1] {
				return "the groups depend on private rows: " + groups[0] + " and " + groups[1]
			}
			var seen coverage
			err = m.check(x, p, &seen)
			if v, ok := errors.AsType[*violation](err); ok {
				return v.what
			}
			if err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
			if seen.moved == 0 && !p.planted {
				t.Fatalf("%s does not differ between neighbours", statement)
			}
		}
		return ""
	}
	if why := holds(pipeline{}, ""); why != "" {
		t.Fatal(why)
	}
	for name, p := range map[string]pipeline{
		"rows outside of what the table lists are kept": {plan: func(_ *stability.Release, b *plan.Bounded) {
			b.Listed = nil
			for {
				f, ok := b.Input.(*plan.Filter)
				if !ok {
					return
				}
				b.Input = f.Input
			}
		}},
		"a unit may be in as many groups as the table lists": {plan: func(_ *stability.Release, b *plan.Bounded) { b.EveryGroup, b.MaxGroups = true, unlimited }},
	} {
		p.planted = true
		if why := holds(p, ""); why == "" {
			t.Errorf("planted: %s: it is not caught", name)
		} else {
			t.Logf("planted: %s: %s", name, why)
		}
	}
	if why := holds(pipeline{planted: true}, "t0"); why == "" {
		t.Error("planted: values are listed of the private table: it is not caught")
	} else {
		t.Logf("planted: values are listed of the private table: %s", why)
	}
}
