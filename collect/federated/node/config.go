// Package node is the process of a holder of data in a federation: named private data, a
// ledger of its own, and an owner who approves what is asked of them.
//
// It guarantees that nothing leaves before it was approved, by the owner or by the owner's
// policy, and charged to the node's ledger; that what left once is what leaves again, byte
// for byte, and no second draw of its noise; and that the process may be killed at any
// instant: then no more has left than was charged.
//
// It does not guarantee anything of noise that a coordinator adds: an owner names the
// coordinators that are trusted with it. Nor does it hide that the node takes part, how
// long it computes, or what its owner declares.
package node

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// Config is what a node's owner declares.
type Config struct {
	Data []Data `json:"data"`
	// Anchor is a file that notices a ledger which was put back; "": anchor, in the node's folder.
	Anchor string `json:"anchor,omitempty"`
	// Limits bound what one asker may make the node keep.
	Limits Limits `json:"limits,omitzero"`
}

// Data are private data under a name.
type Data struct {
	Name string `json:"name"`
	// CSV is a file whose first record names its columns, or Images and Labels are files in
	// MNIST's format. Paths are relative to the node's folder.
	CSV      string            `json:"csv,omitempty"`
	Images   string            `json:"images,omitempty"`
	Labels   string            `json:"labels,omitempty"`
	Encoding *example.Encoding `json:"encoding,omitempty"` // of CSV, as examples
	Person   string            `json:"person,omitempty"`   // the column of CSV that names persons; "": each record is one
	PerUnit  int               `json:"per_unit,omitempty"` // examples of a person that are read; 0 is 1
	// Units is about how many persons there are, or records of a node: the owner's word,
	// which is public. It becomes the weight of the node, and never comes from the data.
	Units    int64          `json:"units"`
	Protects federated.Unit `json:"protects"`
	Budget   Budget         `json:"budget"`
	Policy   Policy         `json:"policy"`
}

// Budget is that of the units which the data protect.
type Budget struct {
	Neighbours privacy.Neighbours `json:"neighbours"`
	Measure    filter.Measure     `json:"measure"`
	Epsilon    privacy.Epsilon    `json:"epsilon"`
	Delta      privacy.Delta      `json:"delta"`
}

// Policy says what is granted, and to whom. Without a word of it, the owner decides each
// request.
type Policy struct {
	Askers  []string        `json:"askers"`            // who may ask at all
	Auto    privacy.Epsilon `json:"auto,omitzero"`     // requests of at most this epsilon are approved without asking
	Trusted []string        `json:"trusted,omitempty"` // the coordinators that may add noise in the node's place
	Apps    []string        `json:"apps,omitempty"`    // local applications whose updates the node makes private
	// Aggregators are those of runs that have some: all of these, and no others. Colluding is how many of
	// them the owner thinks may collude, of runs with shares of noise; 0 is all but one: no such run.
	Aggregators []string `json:"aggregators,omitempty"`
	Colluding   int      `json:"colluding,omitempty"`
	// Unprotected admits runs that promise nothing, once the owner has approved each.
	Unprotected *Word `json:"unprotected,omitempty"`
}

// trusts reports whether a run's aggregators are the owner's, and the noise hides the units from as many
// of them as the owner fears.
func (p Policy) trusts(a *federated.Aggregators) bool {
	own, asked := slices.Sorted(slices.Values(p.Aggregators)), slices.Sorted(slices.Values(a.Names))
	return len(own) > 0 && slices.Equal(own, asked) && (a.Colluding == 0 || p.Colluding > 0 && a.Colluding >= p.Colluding)
}

// A Word is a decision of the owner's.
type Word struct {
	By  string `json:"by"`
	Why string `json:"why"`
}

func (c Config) check() error {
	seen := map[string]bool{}
	if len(c.Data) == 0 {
		return errors.New("node: there are no data")
	}
	if c.Limits.Requests < 0 || c.Limits.Bytes < 0 {
		return errors.New("node: a limit is negative")
	}
	for _, d := range c.Data {
		if err := d.check(); err != nil {
			return fmt.Errorf("node: data %q: %w", d.Name, err)
		}
		if seen[d.Name] {
			return fmt.Errorf("node: two data are named %q", d.Name)
		}
		seen[d.Name] = true
	}
	return nil
}

func (d Data) check() error {
	switch {
	case d.Name == "":
		return errors.New("they have no name")
	case (d.CSV == "") == (d.Images == ""):
		return errors.New("they are a CSV file, or images")
	case d.CSV != "" && d.Encoding == nil:
		return errors.New("nothing says how records become examples")
	case d.Images != "" && (d.Labels == "" || d.Encoding != nil || d.Person != ""):
		return errors.New("images have labels, and no columns")
	case d.Units < 1:
		return errors.New("about how many units there are is the owner's word, and is missing")
	case d.Protects != federated.Node && d.Protects != federated.Person:
		return fmt.Errorf("they protect %q, neither %q nor %q", d.Protects, federated.Node, federated.Person)
	case d.Policy.Colluding < 0 || d.Policy.Colluding > 0 && d.Policy.Colluding > len(d.Policy.Aggregators)-2:
		return fmt.Errorf("of %d aggregators %d may collude: shares of noise need two that are honest", len(d.Policy.Aggregators), d.Policy.Colluding)
	case d.Policy.Unprotected != nil && (d.Policy.Unprotected.By == "" || d.Policy.Unprotected.Why == ""):
		return errors.New("who admits unprotected runs, and why, is missing")
	}
	return nil
}

// domain is the ledger's of the data.
func (d Data) domain() ledger.DomainBudget {
	b := d.Budget
	return ledger.DomainBudget{ID: d.Name, Neighbours: b.Neighbours, Measure: b.Measure, Epsilon: b.Epsilon, Delta: b.Delta}
}

// in is a path as the node's folder has it.
func in(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
