// Package request reads requests to the server in JSON: a statement with the amount that it may
// cost, or a plan to account for. The doors for HTTP and for agents share it.
//
// It guarantees that amounts are the decimals that were written, that nothing in a request
// is ignored, and that every error is a *diagnostic.Diagnostic made of the request alone.
package request

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/bounds"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/privacy"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/sqltype"
)

// MaxBytes is the size of the largest request: more than the longest statement with its
// parameters.
const MaxBytes = 1 << 20

// A Statement is a statement and how to answer it.
type Statement struct {
	SQL        string
	Parameters []discreet.Parameter
	Spend      discreet.Spend
	Accuracy   discreet.Accuracy // instead of a Spend
	Confidence float64           // 0: the catalog's
	Fresh      bool
	Free       bool
}

// StatementMembers are the members of a statement's JSON.
func StatementMembers() []string {
	return []string{"sql", "params", "epsilon", "delta", "rho", "confidence", "accuracy", "fresh", "free"}
}

// ParseStatement reads a statement.
func ParseStatement(body []byte) (*Statement, error) {
	o, err := readObject(body, StatementMembers()...)
	if err != nil {
		return nil, err
	}
	s := &Statement{}
	if s.SQL, err = o.text("sql"); err != nil {
		return nil, err
	}
	if s.SQL == "" {
		return nil, refuse("there is no statement").Try(`send {"sql": "SELECT count(*) FROM visits"}`)
	}
	if s.Parameters, err = o.parameters("params"); err != nil {
		return nil, err
	}
	if s.Spend.Epsilon, err = amount(o, "epsilon", privacy.ParseEpsilon); err != nil {
		return nil, err
	}
	if s.Spend.Delta, err = amount(o, "delta", privacy.ParseDelta); err != nil {
		return nil, err
	}
	if s.Spend.Rho, err = amount(o, "rho", privacy.ParseRho); err != nil {
		return nil, err
	}
	if s.Confidence, err = o.confidence("confidence"); err != nil {
		return nil, err
	}
	if s.Accuracy, err = o.accuracy("accuracy"); err != nil {
		return nil, err
	}
	if s.Fresh, err = o.boolean("fresh"); err != nil {
		return nil, err
	}
	s.Free, err = o.boolean("free")
	return s, err
}

// amount reads an amount of privacy loss that is to be spent.
func amount[A interface{ Sign() int }](o object, name string, parse func(string) (A, error)) (none A, err error) {
	if !o.has(name) {
		return none, nil
	}
	text, err := o.decimal(name)
	if err != nil {
		return none, err
	}
	a, err := parse(text)
	if err != nil {
		return none, refuse("%s: %v", name, err)
	}
	if a.Sign() == 0 {
		return none, refuse("%s is 0", name).Because("an answer must cost more than 0").Try("leave %s out", name)
	}
	return a, nil
}

func (o object) confidence(name string) (float64, error) {
	if !o.has(name) {
		return 0, nil
	}
	text, err := o.decimal(name)
	if err != nil {
		return 0, err
	}
	r, err := numeric.ParseDecimal(text)
	if err != nil {
		return 0, refuse("%s: %v", name, err)
	}
	c, _ := r.Float64()
	if !(c > 0 && c < 1) {
		return 0, diagnostic.New("D075", diagnostic.Span{}, "confidence %s is not between 0 and 1", text).Try("give something like 0.95")
	}
	return c, nil
}

// accuracy reads an error that values may have: 150, "150" or "2%".
func (o object) accuracy(name string) (discreet.Accuracy, error) {
	if !o.has(name) {
		return discreet.Accuracy{}, nil
	}
	text, err := o.decimal(name)
	if err != nil {
		return discreet.Accuracy{}, err
	}
	a, err := discreet.ParseAccuracy(text)
	if err != nil {
		return discreet.Accuracy{}, refuse("%s: %v", name, err)
	}
	return a, nil
}

// parameters is a member that is a list of strings, numbers, booleans, nulls, and of lists of
// one kind of these.
func (o object) parameters(name string) ([]discreet.Parameter, error) {
	values, err := o.list(name)
	if err != nil {
		return nil, err
	}
	var all []discreet.Parameter
	for i, value := range values {
		where, read := fmt.Sprintf("%s[%d]", name, i), parameter
		if value[0] == '[' {
			read = arrayParameter
		}
		p, err := read(where, value)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// parameter gives a value the type that it has as a constant in a statement: a string takes
// the context's.
func parameter(name string, value json.RawMessage) (discreet.Parameter, error) {
	text := string(value)
	switch text[0] {
	case '[', '{':
		return discreet.Parameter{}, refuse("%s is no single value", name).Try("parameters are strings, numbers, booleans and null, and lists of them for x = ANY ($1)")
	case 'n':
		return discreet.Parameter{}, nil
	case '"':
		text, err := unquote(name, value)
		return discreet.Parameter{Text: &text}, err
	case 't', 'f':
		return discreet.Parameter{Type: sqltype.Of(sqltype.Boolean), Text: &text}, nil
	}
	return discreet.Parameter{Type: numberType(text), Text: &text}, nil
}

// arrayParameter is an array. Its numbers have the type that holds them all.
func arrayParameter(name string, value json.RawMessage) (discreet.Parameter, error) {
	list, err := items(name, value)
	if err != nil {
		return discreet.Parameter{}, err
	}
	out := discreet.Parameter{Array: true}
	texts, typed := make([]*string, len(list)), false
	for i, item := range list {
		p, err := parameter(fmt.Sprintf("%s[%d]", name, i), item)
		if err != nil {
			return discreet.Parameter{}, err
		}
		if texts[i] = p.Text; p.Text == nil {
			continue
		}
		if !typed {
			out.Type, typed = p.Type, true
			continue
		}
		var ok bool
		if out.Type, ok = both(out.Type, p.Type); !ok {
			return discreet.Parameter{}, refuse("%s has values of different kinds", name).Try("send a list of strings, of numbers or of booleans")
		}
	}
	text := sqltype.FormatArray(texts)
	out.Text = &text
	return out, nil
}

// both is the type of a list with values of two types.
func both(a, b sqltype.Type) (sqltype.Type, bool) {
	switch {
	case a == b:
		return a, true
	case !a.IsNumeric() || !b.IsNumeric():
		return a, false
	case a.IsInteger() && b.IsInteger():
		return sqltype.Of(max(a.Kind, b.Kind)), true
	case a.IsFloat() || b.IsFloat():
		return sqltype.Of(sqltype.Double), true
	}
	scale := max(a.Scale, b.Scale)
	if digits := max(a.Digits(), b.Digits()) + scale; digits <= 38 {
		return sqltype.DecimalOf(digits, scale), true
	}
	return sqltype.Of(sqltype.Double), true
}

// numberType is the type of a number as PostgreSQL reads it in a statement. One that is
// longer than any decimal is a double.
func numberType(text string) sqltype.Type {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	if strings.ContainsAny(text, "eE") || len(whole)+len(fraction) > 38 {
		return sqltype.Of(sqltype.Double)
	}
	if point {
		return sqltype.DecimalOf(uint8(len(whole)+len(fraction)), uint8(len(fraction)))
	}
	n, _ := new(big.Int).SetString(text, 10)
	switch {
	case n.IsInt64() && int64(int32(n.Int64())) == n.Int64():
		return sqltype.Of(sqltype.Integer)
	case n.IsInt64():
		return sqltype.Of(sqltype.Bigint)
	}
	return sqltype.DecimalOf(uint8(len(whole)), 0)
}

// A Plan is a plan of releases, and the one of epsilon and delta at which it is accounted for.
type Plan struct {
	Text           string
	Epsilon, Delta *big.Rat // one of them
}

// ParsePlan reads a plan.
func ParsePlan(body []byte) (*Plan, error) {
	o, err := readObject(body, "plan", "epsilon", "delta")
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	if p.Text, err = o.text("plan"); err != nil {
		return nil, err
	}
	switch {
	case p.Text == "":
		return nil, refuse("there is no plan").Try(`send {"plan": "10 * gaussian(3)", "delta": 1e-6}`)
	case o.has("epsilon") == o.has("delta"):
		return nil, refuse("say at which delta, or at which epsilon").Because("give one of them, and the other is computed")
	}
	if p.Epsilon, err = target(o, "epsilon", bounds.ParseEpsilon); err != nil {
		return nil, err
	}
	p.Delta, err = target(o, "delta", bounds.ParseDelta)
	return p, err
}

func target(o object, name string, parse func(string) (*big.Rat, error)) (*big.Rat, error) {
	if !o.has(name) {
		return nil, nil
	}
	text, err := o.decimal(name)
	if err != nil {
		return nil, err
	}
	r, err := parse(text)
	if err != nil {
		return nil, refuse("%s: %v", name, err)
	}
	return r, nil
}

// ParseTable reads the name of a table, "" for all.
func ParseTable(body []byte) (string, error) {
	o, err := readObject(body, "table")
	if err != nil {
		return "", err
	}
	return o.text("table")
}

// ParseNothing reads an object without members.
func ParseNothing(body []byte) error {
	_, err := readObject(body)
	return err
}

// ParseKey reads an idempotency key; the empty text is none.
func ParseKey(text string) (string, error) {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return "", refuse("the idempotency key has a character that is not printable ASCII")
		}
	}
	if len(text) > 255 {
		return "", refuse("the idempotency key is longer than 255 characters")
	}
	return text, nil
}

// Options are the statement's for the gateway.
func (s *Statement) Options() gateway.Options {
	return gateway.Options{Spend: s.Spend, Accuracy: s.Accuracy, Confidence: s.Confidence, Fresh: s.Fresh, Free: s.Free, Parameters: s.Parameters}
}
