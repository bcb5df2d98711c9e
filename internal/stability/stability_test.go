package stability_test

import (
	"errors"
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
	node, err := bind.Bind(tree, c)
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
