package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/discreet-dp/discreet/internal/declaration"
)

// tables is the catalog, as far as it exists for who looks. Nothing on it can be changed:
// the catalog is a file of its owner's.
func (s *site) tables() page {
	return page{path: "/tables", word: "Tables", audience: accounts, get: s.showTables}
}

// A tableCard is what is declared of a table.
type tableCard struct {
	declaration.Table
	Ask string
}

// domainValues is how many values of a public domain are listed.
const domainValues = 30

func (s *site) showTables(v *visit) error {
	declared, err := declaration.Tables(s.Gateway.Catalog(v.who), "", domainValues)
	if err != nil {
		return err
	}
	var data struct{ Tables []tableCard }
	for _, t := range declared {
		sql := "SELECT count(*) FROM " + quoted(t.Table)
		data.Tables = append(data.Tables, tableCard{t, "/ask?" + url.Values{"sql": {sql}}.Encode()})
	}
	return v.show(http.StatusOK, "tables", "Tables", data)
}

// quoted is a name as a statement writes it.
func quoted(name string) string {
	plain := func(r rune) bool { return r < 'a' && r != '_' || r > 'z' }
	if strings.IndexFunc(name, plain) < 0 {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
