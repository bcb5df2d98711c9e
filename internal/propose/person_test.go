package propose_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/propose"
)

// The unit that is proposed is the person, not the visit: by names, by foreign keys, by
// which key rows share. Views are left out, other schemas are not.
func TestThePersonIsProposed(t *testing.T) {
	o, dir := open(t), t.TempDir()
	for _, text := range []string{
		"ATTACH '" + filepath.Join(dir, "clinic.duckdb") + "' AS c", "USE c",
		"CREATE TABLE c.people (id BIGINT PRIMARY KEY, name TEXT)",
		"CREATE TABLE c.visits (visit_id BIGINT PRIMARY KEY, who BIGINT REFERENCES people (id), cost DOUBLE)",
		"CREATE TABLE c.prescriptions (row_id BIGINT, visit BIGINT REFERENCES visits (visit_id), drug TEXT)",
		"CREATE TABLE c.calls (call_id BIGINT, phone_no BIGINT)",
		"CREATE TABLE c.logins (login_id BIGINT)",
		"CREATE VIEW c.dear AS SELECT * FROM c.visits WHERE cost > 100",
		"CREATE SCHEMA c.archive", "CREATE TABLE c.archive.visits (visit_id BIGINT, patient_id BIGINT)", `CREATE TABLE c."a.b" (patient_id BIGINT)`,
		"INSERT INTO c.people SELECT i, 'x' FROM range(10) t(i)", "INSERT INTO c.visits SELECT i, i % 10, 5 FROM range(100) t(i)",
		"INSERT INTO c.prescriptions SELECT i, i % 100, 'y' FROM range(300) t(i)", "INSERT INTO c.calls SELECT i, i % 7 FROM range(100) t(i)",
		"INSERT INTO c.logins SELECT * FROM range(50)", "USE memory", "DETACH c",
	} {
		if _, _, err := o.Rows(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	rows := "order_id,account_nr\n"
	for i := range 20 {
		rows += strings.Repeat("1", i+1) + "," + strings.Repeat("2", i%3+1) + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "orders.csv"), []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "discreet.toml")
	text, err := propose.Catalog(t.Context(), o, path, []string{filepath.Join(dir, "clinic.duckdb"), filepath.Join(dir, "orders.csv")})
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"clinic.duckdb#people":         `unit = "id?"`,
		"clinic.duckdb#visits":         `unit = "who?"`,
		"clinic.duckdb#prescriptions":  `{ column = "visit", references = "visits.visit_id" }`,
		"clinic.duckdb#calls":          `unit = "phone_no?"`,
		"clinic.duckdb#logins":         `unit = "login_id?"         # no two of the first rows share it`,
		"clinic.duckdb#archive.visits": `unit = "patient_id?"`,
		"clinic.duckdb#main.a.b":       `unit = "patient_id?"`,
		"orders.csv":                   `unit = "account_nr?"`,
	} {
		_, after, found := strings.Cut(text, `source = "`+source+`"`)
		if !found {
			t.Errorf("%s is not proposed", source)
			continue
		}
		if after, _, _ = strings.Cut(after, "[tables."); !strings.Contains(after, want) {
			t.Errorf("%s: want %s in\n%s", source, want, after)
		}
	}
	if strings.Contains(text, "dear") {
		t.Error("a view is proposed")
	}
	if t.Failed() {
		t.Log(text)
	}
	// As the owner decides it, the prescription's row is the patient's.
	text = regexp.MustCompile(`unit = "\?" +# by the file's foreign key (\{.*\})`).ReplaceAllString(text, "unit = $1")
	c, err := catalog.Parse(path, decide(text))
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := c.Table("prescriptions"); !ok || m.Unit.Kind != catalog.UnitReference || m.Unit.References.Name != "visits" {
		t.Errorf("%+v", m)
	}
	// A schema is a part of what a source is; main is the one that need not be named.
	same := func(a, b string) bool {
		text := "[tables.a]\npublic = true\nsource = \"clinic.duckdb#" + a + "\"\n[tables.a.columns]\nx = { type = \"text\" }\n" +
			"[tables.b]\npublic = true\nsource = \"clinic.duckdb#" + b + "\"\n[tables.b.columns]\nx = { type = \"text\" }\n"
		c, err := catalog.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		return c.Tables[0].SameSource(c.Tables[1])
	}
	if !same("visits", "main.visits") || !same("Visits", "MAIN.visits") || !same("archive.visits", "Archive.VISITS") || same("visits", "archive.visits") {
		t.Error("schemas are told apart wrongly")
	}
}
