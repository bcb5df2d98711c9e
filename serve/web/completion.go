package web

import (
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/declaration"
)

// A completion is what the editor proposes: what exists for the asker, and nothing else.
type completion struct {
	Tables     map[string][]column `json:"tables"`
	Aggregates []string            `json:"aggregates"`
	Functions  []string            `json:"functions"`
}

type column struct {
	Name string `json:"label"`
	Type string `json:"detail"`
}

func (s *site) completion(v *visit) completion {
	c := completion{Tables: map[string][]column{}, Aggregates: bind.Aggregates(), Functions: slices.Sorted(maps.Keys(bind.Functions()))}
	declared, err := declaration.Tables(s.Gateway.Catalog(v.who), "", math.MaxInt)
	if err != nil { // nothing is proposed then
		return c
	}
	for _, t := range declared {
		columns := []column{}
		for _, d := range t.Columns {
			columns = append(columns, column{d.Name, d.Type})
		}
		c.Tables[t.Table] = columns
	}
	return c
}

func zeroConcentrated(d *catalog.Domain) bool { return d.Measure == "zcdp" }
