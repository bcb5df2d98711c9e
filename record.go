package discreet

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A record is what the ledger keeps of a statement's certificate: also the bounds and
// the public domains that it was served with. Those are no promise of the catalog's, and
// may change from one statement to the next.
type record struct {
	Certificate
	Mechanisms []Mechanism    `json:"mechanisms"`
	Domains    []publicDomain `json:"public_domains,omitempty"`
}

// A publicDomain is a key's complete list of values, as it was when it served.
type publicDomain struct {
	Key    string `json:"key"`
	Values int    `json:"values"`
	Digest []byte `json:"digest"` // SHA-256 of the values in their order
}

func (s *statement) record(c *compiled) record {
	r := record{Certificate: s.describe(c), Mechanisms: s.mechanisms()}
	for i, release := range s.certificate.Releases {
		for j, values := range c.domains[i] {
			d := publicDomain{release.Keys[j].Name, len(values), digestValues(values)}
			if numbered := release.Keys[j].Numbered; numbered != nil { // what is numbered
				d.Digest = digestValues(slices.Concat(c.known[numbered.Index]...))
			}
			r.Domains = append(r.Domains, d)
		}
	}
	return r
}

func digestValues(values []sqltype.Value) []byte {
	h := sha256.New()
	for _, v := range values {
		fmt.Fprintf(h, "%q\n", sqltype.Key(v))
	}
	return h.Sum(nil)
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
