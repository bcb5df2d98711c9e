// Package books is what a ledger tells of budgets and of what spent them, in the form in
// which programs read it: of the command budget and of the server alike.
package books

import (
	"encoding/json"
	"fmt"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A Domain is the budget of a domain, what was spent and what is left.
type Domain struct {
	Domain     string             `json:"domain"`
	Neighbours string             `json:"neighbours"`
	Measure    filter.Measure     `json:"measure"`
	Epsilon    privacy.Epsilon    `json:"epsilon"`
	Delta      privacy.Delta      `json:"delta"`
	Order      json.Number        `json:"order,omitempty"` // of rdp
	Limit      discreet.Remaining `json:"limit"`           // the budget in the measure's own terms
	Spent      discreet.Remaining `json:"spent"`
	Remaining  discreet.Remaining `json:"remaining"`
	Implies    filter.Amounts     `json:"implies"`    // what remains, as (epsilon, delta), and as rho if the measure has one
	Unanswered int64              `json:"unanswered"` // charges without an answer
	Suspended  bool               `json:"suspended"`
}

// NewDomain writes down a balance.
func NewDomain(b ledger.Balance) (Domain, error) {
	implies, err := b.Implies()
	if err != nil {
		return Domain{}, fmt.Errorf("domain %q: %w", b.ID, err)
	}
	var order json.Number
	if b.Order != nil {
		order = json.Number(numeric.FormatRat(b.Order))
	}
	in := func(a filter.Amounts) discreet.Remaining { return discreet.Remaining{Measure: b.Measure, Amounts: a} }
	return Domain{b.ID, b.Neighbours.String(), b.Measure, b.Epsilon, b.Delta, order,
		in(b.Limit), in(b.Spent), in(b.Remaining), implies, b.Uncommitted, b.Suspended}, nil
}

// An Entry is one record of the ledger.
type Entry struct {
	Record      int64               `json:"record"`
	Kind        string              `json:"kind"` // create, anchor, domain, reserve, suspend, acknowledge, access, version
	Time        time.Time           `json:"time"`
	Domain      string              `json:"domain,omitempty"`
	Analyst     string              `json:"analyst,omitempty"`
	Statement   string              `json:"statement,omitempty"`
	Parameters  json.RawMessage     `json:"parameters,omitempty"`
	Certificate json.RawMessage     `json:"certificate,omitempty"`
	Events      []privacy.Event     `json:"events,omitempty"`
	Charge      *discreet.Remaining `json:"charge,omitempty"`
	Answered    bool                `json:"answered"`
	Note        string              `json:"note,omitempty"`
	User        *ledger.User        `json:"user,omitempty"` // of the operating system
}

// NewEntries writes down a history, in its order. Commits are left out: a reservation says
// itself whether it was answered. A charge is in the measure of its domain.
func NewEntries(history []ledger.Entry, measures map[string]filter.Measure) []Entry {
	all := []Entry{}
	for _, h := range history {
		if h.Kind == "commit" {
			continue
		}
		e := Entry{Record: h.Seq, Kind: h.Kind, Time: h.Time, Domain: h.Domain, Analyst: h.Analyst, User: h.User, Statement: h.Statement,
			Parameters: h.Parameters, Certificate: h.Certificate, Events: h.Events, Answered: h.Committed, Note: h.Note}
		if h.Kind == "reserve" {
			e.Charge = &discreet.Remaining{Measure: measures[h.Domain], Amounts: h.Charge}
		}
		all = append(all, e)
	}
	return all
}
