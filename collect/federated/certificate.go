package federated

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/accountant"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/privacy"
)

// Digest identifies a plan.
func (p Plan) Digest() string {
	data, err := json.Marshal(p)
	if err != nil {
		return "" // only NaN fails, and a valid plan has none
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// A Certificate says what a run reveals, to whom, and who had to be trusted.
type Certificate struct {
	Unit           Unit             `json:"unit"`
	Method         Method           `json:"method,omitempty"`
	Guarantee      *learn.Guarantee `json:"guarantee"` // nil: nothing is promised
	Participations int              `json:"participations"`
	Spans          []int            `json:"trees,omitempty"` // with FTRL: the rounds of each tree
	Trusted        []string         `json:"trusted"`
	Notes          []string         `json:"notes"`
	Plan           string           `json:"plan"` // its digest
}

// Certify returns the certificate of a plan, under a relation between neighbours.
func (p Plan) Certify(n privacy.Neighbours) (Certificate, error) {
	if err := p.Validate(); err != nil {
		return Certificate{}, err
	}
	c := Certificate{Unit: p.Unit, Plan: p.Digest(), Participations: p.Participations()}
	if p.Privacy == nil {
		c.Trusted = []string{"the coordinator, with each node's update as it is, and all who see the model"}
		c.Notes = []string{"nothing is promised: updates and models may show the data they were made of"}
		return c, nil
	}
	e, err := p.Event(n)
	if err != nil {
		return Certificate{}, err
	}
	g, err := learn.GuaranteeOf(e, nil, p.Privacy.Delta, accountant.Options{Neighbours: n})
	if err != nil {
		return Certificate{}, err
	}
	c.Method, c.Guarantee = p.Privacy.Method, &g
	if c.Method == FTRL {
		c.Spans = p.spans()
	}
	c.Trusted = []string{"each node, with its own data"}
	switch p.NoiseBy() {
	case AtCoordinator:
		c.Trusted = append(c.Trusted, "the coordinator, with each node's clipped sum of every round, and with adding the noise")
	case AtAggregators:
		c.Trusted = append(c.Trusted, p.Whom())
	}
	switch p.Unit {
	case Node:
		c.Notes = append(c.Notes, "the unit is a node: all of its data, or none; "+p.persons(n))
	case Person:
		c.Notes = append(c.Notes, fmt.Sprintf("the unit is a person at one node, of whose examples at most %d count; somebody at k nodes is covered by %s times the rho", max(p.PerUnit, 1), p.times("")))
	}
	c.Notes = append(c.Notes,
		"that a node is enrolled, and in which rounds it took part, is not hidden",
		"nothing is claimed from drawing who takes part: who takes part is seen")
	if !p.Join.Rule.sums() {
		c.Notes = append(c.Notes, fmt.Sprintf("the rule %q has no central guarantee: it is post-processing of what each node made private", p.Join.Rule))
	}
	if p.Aggregated() {
		c.Notes = append(c.Notes, p.against(),
			"it is computational: against an adversary who breaks neither TLS 1.3, HPKE, SHAKE128 nor the system's generator",
			"aggregators follow the protocol: one that does not can make a total wrong, and a node that does not can make the model wrong")
	}
	if p.NoiseBy() == AtNodes {
		c.Notes = append(c.Notes, "each node adds all of the noise, and trusts nobody: the error is that of as many noises as nodes")
	}
	return c, nil
}

// honest is how many of the aggregators have to be.
func (a Aggregators) honest() int {
	if a.Colluding == 0 {
		return 1
	}
	return len(a.Names) - a.Colluding
}

// Whom says which aggregators have to be trusted, of a plan that has some.
func (p Plan) Whom() string {
	names := strings.Join(p.Aggregators.Names, ", ")
	if p.Aggregators.honest() == 1 {
		return "one of the aggregators " + names + ", to keep its shares and its noise to itself; nobody needs to know which"
	}
	return fmt.Sprintf("%d of the %d aggregators %s, each to keep its shares and its part of the noise to itself; nobody needs to know which", p.Aggregators.honest(), len(p.Aggregators.Names), names)
}

// against says against whom the guarantee holds.
func (p Plan) against() string {
	m, h := len(p.Aggregators.Names), p.Aggregators.honest()
	colluding := "all aggregators but one"
	noises := fmt.Sprintf("that of %d whole noises", m)
	if h > 1 {
		colluding = fmt.Sprintf("any %d of the %d aggregators", m-h, m)
		noises = fmt.Sprintf("that of %.2f whole noises", float64(m)/float64(h))
		if p.Aggregators.Shares == mechanism.BySkellam {
			noises += ", drawn as Skellam noise"
		}
	}
	return "it holds against the coordinator, which sees the noisy sum alone, with the other nodes, " + colluding + ", and all who see the model; the error is " + noises
}

// times is how many times a unit's rho covers k units: what one noise hides moves k times as
// far, so k² times the rho; noises of k nodes add up.
func (p Plan) times(factor string) string {
	if p.NoiseBy() == AtNodes {
		return factor + "k"
	}
	return factor + "k²"
}

// persons says how a run that protects nodes covers persons. With a person and without,
// a node's update is any two within the clip, so it moves by 2·One: as where nodes are
// replaced, and by four times the rho of a node that comes or goes.
func (p Plan) persons(n privacy.Neighbours) string {
	if n == privacy.ReplaceOne {
		return "a person at one node is covered by the rho, somebody at k nodes by " + p.times("") + " times the rho"
	}
	return "a person at one node is covered by 4 times the rho, somebody at k nodes by " + p.times("4") + " times the rho"
}

// Model returns the model of a run that has no more rounds, as the commands of package learn
// read it.
func (s *State) Model(p Plan, n privacy.Neighbours, names []string, e *example.Encoding, date time.Time) (*learn.Model, error) {
	if s.Round < p.Rounds {
		return nil, fmt.Errorf("%d of %d rounds are made", s.Round, p.Rounds)
	}
	about := map[string]any{"source": "a federation", "encoding": e, "selection": example.Selection{PerUnit: max(p.PerUnit, 1)}}
	if e != nil {
		about["classes"] = e.ClassNames()
	}
	if p.Join.Rule == Cluster {
		about["classes"] = p.clusterNames()
		if e != nil { // labels say nothing of clusters
			without := *e
			without.Target = nil
			about["encoding"] = &without
		}
	}
	encoding, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	m := &learn.Model{Network: p.Network, Encoding: encoding, Parameters: s.Weights}
	if p.Privacy == nil {
		return m, nil
	}
	c, err := p.Certify(n)
	if err != nil {
		return nil, err
	}
	plan, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	unit := "a node, with all its data"
	if p.Unit == Person {
		unit = "a person at one node"
	}
	m.Certificate = &learn.Certificate{
		Data: learn.Data{Names: names, Unit: unit, Bound: max(p.PerUnit, 1)},
		Plan: plan, Method: string(p.Privacy.Method), Guarantee: *c.Guarantee,
		Ledger: learn.Entry{Budget: "each node's", Run: c.Plan, Statement: "federated run", Charged: c.Guarantee.Event},
		Code:   learn.ThisCode(), Date: date.UTC(),
	}
	return m, nil
}
