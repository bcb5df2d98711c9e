package discreet

import (
	"encoding/json"
	"fmt"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// budgets are the catalog's domains as the ledger knows them.
func budgets(c *catalog.Catalog) []ledger.DomainBudget {
	var out []ledger.DomainBudget
	for _, d := range c.Domains {
		out = append(out, ledger.DomainBudget{ID: d.ID, Neighbours: d.Neighbours, Measure: d.Measure,
			Epsilon: d.Epsilon, Delta: d.Delta, SelectionDelta: d.SelectionDelta})
	}
	return out
}

// Budgets returns the domains of a catalog as a ledger is created with them.
func Budgets(c *catalog.Catalog) []ledger.DomainBudget { return budgets(c) }

// cost is what the domain's filter will charge for the statement's events.
func (s *statement) cost() (Cost, error) {
	d := s.certificate.Domain
	if len(s.design.Events) == 0 {
		return s.charged(filter.Amounts{}), nil
	}
	f, err := filter.New(filter.Budget{Measure: d.Measure, Epsilon: d.Epsilon, Delta: d.Delta,
		SelectionDelta: d.SelectionDelta, Neighbours: d.Neighbours})
	if err != nil {
		return Cost{}, fmt.Errorf("domain %q: %w", d.ID, err)
	}
	charge, err := f.Charge(s.design.Events, s.design.Delta)
	if err != nil {
		return Cost{}, fmt.Errorf("charge statement: %w", err)
	}
	return s.charged(f.Amounts(charge)), nil
}

func (s *statement) charged(a filter.Amounts) Cost {
	events := s.design.Events
	if events == nil {
		events = []privacy.Event{} // JSON's [], not null
	}
	return Cost{Amounts: a, Events: events}
}

func remaining(m filter.Measure, a filter.Amounts) Remaining {
	return Remaining{Measure: m, Amounts: a}
}

// parameters are what, beside its text, makes a statement the same statement.
func (db *Database) parameters(s *statement, o *QueryOptions) (json.RawMessage, error) {
	weights := make([]string, len(o.Weights))
	for i, w := range o.Weights {
		weights[i] = w.RatString()
	}
	mapped := map[string]string{}
	for _, t := range db.config.Catalog.Tables {
		if t.Mapping != nil {
			mapped[t.Name] = t.Mapping.Code
		}
	}
	raw, err := json.Marshal(struct {
		Epsilon    privacy.Epsilon `json:"epsilon"`
		Delta      privacy.Delta   `json:"delta"`
		Rho        privacy.Rho     `json:"rho"`
		Weights    []string        `json:"weights,omitempty"`
		Confidence string          `json:"confidence"`
		// What a statement says depends on the code of the tables that are mapped.
		Mapped map[string]string `json:"mapped,omitempty"`
	}{s.spend.Epsilon, s.spend.Delta, s.spend.Rho, weights, s.confidence.RatString(), mapped})
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	return raw, nil
}
