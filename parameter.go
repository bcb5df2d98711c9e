package discreet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/sqlparse"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Parameter is what $1, or another, stands for: a constant that comes beside the
// statement's text. It is analysed as if it stood there.
type Parameter struct {
	// Type is the declared type; the zero value leaves it to the context, as of a
	// constant in quotes.
	Type sqltype.Type
	// Array says that the value is an array of elements of the type, as x = ANY ($1) takes one.
	Array bool
	// Text is the value in PostgreSQL's text form, as in {1,2} where it is an array; nil for NULL.
	Text *string
}

// A ParameterType is what is known of a parameter before it has a value.
type ParameterType struct {
	Type  sqltype.Type // of the elements of an array; zero where nothing is known
	Array bool
}

// A Description says what a statement with parameters will return, before they have
// values. It costs nothing and touches no data.
type Description struct {
	Columns    []Column
	Parameters []ParameterType // of $1, $2 ... up to the highest that the statement names
	// Domain is the unit domain that the statement would be charged to; empty where it
	// reads public tables alone.
	Domain string
}

// Describe returns the columns and the types of parameters of a statement. types are
// the declared ones of the parameters, as far as there are any. o are the options with which it will be
// asked, but for parameters: which columns are noisy follows from them, as where an accuracy is
// asked for, which a choice does not have.
//
// [Database.Prepare] plans by the same options alike, as long as catalog and public tables stay as they are. Where parameters
// decide by which bounds a statement errs less, it may be planned otherwise with their values: [Statement.Columns] says what is answered.
func (db *Database) Describe(ctx context.Context, sql string, types []ParameterType, o *QueryOptions) (*Description, error) {
	if o == nil {
		o = &QueryOptions{}
	}
	tree, err := sqlparse.Parameterized(sql)
	if err != nil {
		return nil, refusal(err)
	}
	declared := make([]bind.ParameterType, len(types))
	for i, t := range types {
		declared[i] = bind.ParameterType(t)
	}
	bound, parameters, err := bind.Describe(tree, db.config.Catalog, declared, db.visible)
	if err != nil {
		return nil, refusal(in(err, sql))
	}
	s, analyze, err := db.certified(ctx, sql, bound, tree.Privacy, o)
	if err != nil {
		return nil, refusal(err)
	}
	s.post = rewrite.Intervals(s.certificate, rewrite.Options{Together: s.together, Moved: s.consistent})
	if s.certificate.EitherWay {
		// What cannot be designed is refused when it is asked, by another cost or other values perhaps not.
		if taken, err := db.eitherWay(ctx, s, s.bound, analyze, o); err == nil {
			s = taken
		}
	}
	d := &Description{Columns: s.columns()}
	for _, t := range parameters {
		d.Parameters = append(d.Parameters, ParameterType(t))
	}
	if s.certificate.Domain != nil {
		d.Domain = s.certificate.Domain.ID
	}
	return d, nil
}

// bind reads a statement and resolves its names, with its parameters' values.
// The clause in which it says what it costs is nil where it has none.
func (db *Database) bind(text string, parameters []Parameter) (plan.Node, *sqlparse.Privacy, error) {
	tree, err := sqlparse.Parameterized(text)
	if err != nil {
		return nil, nil, err
	}
	p := bind.Parameters{}
	for _, v := range parameters {
		p.Types, p.Values = append(p.Types, bind.ParameterType{Type: v.Type, Array: v.Array}), append(p.Values, v.Text)
	}
	bound, err := bind.Statement(tree, db.config.Catalog, p, db.visible)
	return bound, tree.Privacy, in(err, text)
}

// priced is what a statement costs whose text says it: the clause's amounts in place of a
// default, never beside amounts that come with the statement.
func priced(clause *sqlparse.Privacy, given Spend) (Spend, error) {
	if clause == nil || clause.Epsilon == "" && clause.Delta == "" {
		return given, nil
	}
	refuse := func(format string, args ...any) error {
		return diagnostic.New("D057", clause.Span, format, args...)
	}
	switch {
	case !release.Spend(given).IsZero():
		return given, diagnostic.New("D057", clause.Span, "the cost is given twice").
			Because("the statement says what it costs, and so does what came with it: an amount of the session, of the request, or of the account").
			Try("leave epsilon and delta out of the statement")
	case clause.Epsilon == "":
		return given, diagnostic.New("D057", clause.Span, "delta without epsilon").Try("write epsilon = 1, delta = %s", clause.Delta)
	}
	var spend Spend
	var err error
	if spend.Epsilon, err = privacy.ParseEpsilon(clause.Epsilon); err != nil {
		return given, refuse("%s is no epsilon: %s", clause.Epsilon, diagnostic.Cause(err))
	}
	if clause.Delta != "" {
		if spend.Delta, err = privacy.ParseDelta(clause.Delta); err != nil {
			return given, refuse("%s is no delta: %s", clause.Delta, diagnostic.Cause(err))
		}
	}
	return spend, nil
}

// A Fingerprint identifies what a statement asks, however it is spelled: two statements
// of one fingerprint have answers of one distribution, with the same columns and cost,
// while the data is the same.
type Fingerprint [sha256.Size]byte

// fingerprint digests all that decides what an answer says: what the engine computes, from
// which the keys, values and bounds can be read; public domains and mechanisms; what is
// made of the releases; columns and confidence.
func (s *statement) fingerprint(r record, c *compiled) (Fingerprint, error) {
	return s.digest(r, c, s.design.Events, s.design.Delta, nil)
}

func (s *statement) digest(r record, c *compiled, events []privacy.Event, delta privacy.Delta, guard []byte) (Fingerprint, error) {
	var computed []string
	for i, q := range c.queries {
		computed = append(computed, q.SQL)
		for _, tree := range c.trees[i] {
			computed = append(computed, tree.SQL)
		}
	}
	// Aggregates of the same noisy numbers differ in what is made of them: a variance and a
	// deviation, one quantile and another.
	var releases []string
	for _, r := range s.certificate.Releases {
		releases = append(releases, r.Key())
	}
	var stages []string // of which a release's plan and text have the number alone
	for i, stage := range s.certificate.Stages {
		stages = append(stages, plan.Format(stage.Plan))
		if rows, ok := c.known[i]; ok {
			stages = append(stages, fmt.Sprintf("%x", digestValues(slices.Concat(rows...))))
		}
	}
	encoded, err := json.Marshal(struct {
		Computed   []string
		Releases   []string
		Stages     []string `json:",omitempty"`
		Record     record
		Columns    []Column
		Post       string
		Confidence string
		Events     []privacy.Event
		Delta      privacy.Delta
		Consistent bool   `json:",omitempty"`
		Together   bool   `json:",omitempty"`
		Guard      []byte `json:",omitempty"`
	}{computed, releases, stages, r, s.columns(), plan.Format(s.certificate.Post), s.confidence.RatString(), events, delta, s.consistent, s.together, guard})
	if err != nil {
		return Fingerprint{}, fmt.Errorf("encode plan: %w", err)
	}
	return sha256.Sum256(encoded), nil
}
