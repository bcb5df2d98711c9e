package stability_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/diagnostic/diagnostictest"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/internal/stability"
)

func load(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load("testdata/catalog.toml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func analyze(c *catalog.Catalog, sql string) (*stability.Certificate, error) {
	tree, err := sqlparse.Parse(sql)
	if err != nil {
		return nil, err
	}
	node, err := bind.Statement(tree, c, bind.Parameters{}, nil)
	if err == nil {
		var certificate *stability.Certificate
		if certificate, err = stability.Analyze(node); err == nil {
			return certificate, nil
		}
	}
	var d *diagnostic.Diagnostic
	if errors.As(err, &d) {
		return nil, d.In("query", sql)
	}
	return nil, err
}

// Every statement of the files is refused where and as it says, or passes.
func TestRefusals(t *testing.T) {
	c := load(t)
	diagnostictest.Run(t, "testdata/refuse/*.sql", func(sql string) error {
		_, err := analyze(c, sql)
		return err
	})
}

func TestAccepted(t *testing.T) {
	c := load(t)
	diagnostictest.Run(t, "testdata/accept.sql", func(sql string) error {
		_, err := analyze(c, sql)
		return err
	})
}

// Quotients within quotients are each looked through once, in numbers of few digits.
func TestNestedQuotientsTakeNoTime(t *testing.T) {
	c := load(t)
	sql := "SELECT avg(" + strings.Repeat("(age + 1) / (cost + 1.12345678 + ", 90) + "cost" + strings.Repeat(")", 90) + ") FROM visits"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := analyze(c, sql); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 60 {
		t.Errorf("%d MiB were allocated", taken)
	}
}

// What is known of a column that is used twice, level upon level, is found once
// for each level; ends of bounds that outgrow every sum are given up.
func TestDeepStatementsTakeNoTime(t *testing.T) {
	c := load(t)
	deep := func(first, next, last string) string {
		sql := first
		for range 60 {
			sql = "SELECT " + next + " AS x, patient_id FROM (" + sql + ") t"
		}
		return "SELECT " + last + " FROM (" + sql + ") t"
	}
	for _, test := range []struct {
		sql, code string
	}{
		{deep("SELECT age AS x, patient_id FROM visits", "x + x", "sum(x)"), ""},
		{deep("SELECT cost AS x, patient_id FROM visits", "x * x", "sum(x)"), "D049"},
		{deep("SELECT department AS x, patient_id FROM visits", "coalesce(x, x)", "x, count(*)") + " GROUP BY x", ""},
		{deep("SELECT age AS x, patient_id FROM visits", "CASE WHEN x > 1 THEN x ELSE x END", "x, count(*)") + " GROUP BY x", ""},
	} {
		_, err := analyze(c, test.sql)
		var d *diagnostic.Diagnostic
		if code := ""; errors.As(err, &d) {
			if code = d.Code; code != test.code {
				t.Errorf("%.40s: %v, want %q", test.sql, err, test.code)
			}
		} else if err != nil || test.code != "" {
			t.Errorf("%.40s: %v, want %q", test.sql, err, test.code)
		}
	}
}
