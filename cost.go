package discreet

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/derive"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// budgets are the catalog's domains as the ledger knows them.
func budgets(c *catalog.Catalog) []ledger.DomainBudget {
	var out []ledger.DomainBudget
	for _, d := range c.Domains {
		out = append(out, ledger.DomainBudget{ID: d.ID, Neighbours: d.Neighbours, Measure: filter.Measure(d.Measure),
			Epsilon: d.Epsilon, Delta: d.Delta, SelectionDelta: d.SelectionDelta, Guards: guards(c, d)})
	}
	return out
}

// guards are the sources of a domain by their declared names. Names of tables are not
// among them: a source is the same whatever it is called.
func guards(c *catalog.Catalog, d *catalog.Domain) []ledger.Guarded {
	out := []ledger.Guarded{}
	for _, t := range c.Tables {
		if t.Domain == d && t.Mapping == nil {
			out = append(out, ledger.Guarded{Source: declared(t.Source), Unit: unitText(t), AlsoIn: t.AlsoIn})
		}
	}
	return out
}

// publicSources are the catalog's public sources by their declared names.
func publicSources(c *catalog.Catalog) (all []string) {
	for _, t := range c.Tables {
		if t.Public {
			all = append(all, declared(t.Source))
		}
	}
	return all
}

// declared is a source as the catalog names it, in the plainest spelling.
func declared(s catalog.Source) string {
	if s.Format == catalog.Relation {
		return "table " + s.Name()
	}
	file, _, is := strings.Cut(s.Text, "#")
	if file = path.Clean(filepath.ToSlash(file)); !is {
		return file
	}
	if s.Schema != "" {
		return file + "#" + catalog.Fold(s.Schema+"."+s.Table)
	}
	return file + "#" + catalog.Fold(s.Table)
}

func unitText(t *catalog.Table) string {
	switch u := t.Unit; u.Kind {
	case catalog.UnitRow:
		return "the row"
	case catalog.UnitReference:
		return fmt.Sprintf("of %s, which refers to %s of %s", columnText(t, u.Column), columnText(u.References, u.Referred), declared(u.References.Source))
	default:
		return columnText(t, u.Column)
	}
}

// columnText is a column as its source has it, or all that it is derived from.
func columnText(t *catalog.Table, c *catalog.Column) string {
	if c.Is == nil {
		return strconv.Quote(c.Field())
	}
	r, err := derive.Read(t)
	if err != nil { // no catalog with such an expression is opened
		return "derived from what means nothing"
	}
	return "what is derived as " + r.Definition(c)
}

// Budgets returns the domains of a catalog as a ledger is created with them.
func Budgets(c *catalog.Catalog) []ledger.DomainBudget { return budgets(c) }

// cost is what the domain's filter will charge for the statement's events.
func (s *statement) cost() (Cost, error) {
	d := s.certificate.Domain
	if s.free {
		return Cost{Events: []privacy.Event{}}, nil
	}
	if len(s.design.Events) == 0 {
		return s.charged(filter.Amounts{}), nil
	}
	f, err := filter.New(filter.Budget{Measure: filter.Measure(d.Measure), Epsilon: d.Epsilon, Delta: d.Delta,
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
	weights := make([]string, len(s.weights))
	for i, w := range s.weights {
		weights[i] = w.RatString()
	}
	var values []value
	for _, p := range o.Parameters {
		v := value{Text: p.Text, Array: p.Array}
		if p.Type.Kind != sqltype.Null {
			v.Type = p.Type.String()
		}
		values = append(values, v)
	}
	mapped := map[string]string{}
	for _, t := range db.config.Catalog.Tables {
		if t.Mapping != nil {
			mapped[t.Name] = t.Mapping.Code
		}
	}
	raw, err := json.Marshal(parameterRecord{s.spend.Epsilon, s.spend.Delta, s.spend.Rho, weights, s.confidence.RatString(), s.consistent, s.together, values, mapped, written(db.config.Catalog)})
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	return raw, nil
}

// A parameterRecord is what stands in the ledger beside a statement's text.
type parameterRecord struct {
	Epsilon    privacy.Epsilon `json:"epsilon"`
	Delta      privacy.Delta   `json:"delta"`
	Rho        privacy.Rho     `json:"rho"`
	Weights    []string        `json:"weights,omitempty"`
	Confidence string          `json:"confidence"`
	Consistent bool            `json:"consistent,omitempty"`
	Together   bool            `json:"together,omitempty"`
	// What the text's $1, $2 ... stand for.
	Values []value `json:"values,omitempty"`
	// What a statement says depends on the code of the tables that are mapped.
	Mapped map[string]string `json:"mapped,omitempty"`
	// And on what is derived, and on views.
	Derived string `json:"derived,omitempty"`
}

// A value is a parameter's, for the record.
type value struct {
	Type  string  `json:"type,omitempty"`
	Array bool    `json:"array,omitempty"`
	Text  *string `json:"text"`
}

// written is a digest of the SQL in a catalog, empty where there is none: a statement
// that names what it computes is another when it changes.
func written(c *catalog.Catalog) string {
	var all []string
	for _, t := range c.Tables {
		for _, column := range t.Columns {
			if column.Is != nil {
				all = append(all, t.Name, column.Name, column.Is.Text)
			}
		}
	}
	for _, v := range c.Views {
		all = append(all, v.Name, v.Query.Text)
		for _, column := range v.Columns {
			all = append(all, plan.Declaration(column))
		}
	}
	if all == nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%q", all)))
}
