package coordinator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/privacy"
)

// Profile is a federation on one machine: nodes with made patients, a coordinator, aggregators if they are
// asked for, and two members without a process: an analyst, who asks the coordinator, and an application beside
// the first node.
func Profile() cluster.Profile {
	return cluster.Profile{
		Name:  "federated",
		Short: "nodes that keep their data, and a coordinator that sees none",
		Settings: []cluster.Setting{
			{Name: "nodes", Default: "3", Usage: "how many nodes"},
			{Name: "patients", Default: "400", Usage: "made patients of a node"},
			{Name: "epsilon", Default: "4", Usage: "each node's budget, at a delta of 1e-6"},
			{Name: "aggregators", Default: "0", Usage: "processes that add up updates of which none sees one, 2 to 10; 0: none"},
			{Name: "colluding", Default: "0", Usage: "of them may collude, as owners think, for plans with shares of noise; 0: all but one"},
			{Name: "auto", Default: "0", Usage: "requests of at most this epsilon need no owner"},
		},
		Members: members,
		Roles:   map[string]cluster.Role{"node": madeNode, "coordinator": Role, "aggregator": process.Role},
	}
}

// made is the configuration of a node whose data are made.
type made struct {
	Patients int         `json:"patients"`
	Number   int         `json:"number"` // of the node: its patients are not like others'
	Node     node.Config `json:"node"`
}

const (
	madeFile        = "patients.csv"
	coordinatorName = "coordinator"
)

func members(s cluster.Settings) ([]cluster.Member, error) {
	n, errN := s.Whole("nodes")
	patients, errP := s.Whole("patients")
	epsilon, errE := privacy.ParseEpsilon(s["epsilon"])
	auto, errA := privacy.ParseEpsilon(s["auto"])
	adding, errG := s.Whole("aggregators")
	colluding, errC := s.Whole("colluding")
	delta, errD := privacy.ParseDelta("1e-6")
	if err := errors.Join(errN, errP, errE, errA, errD, errG, errC); err != nil {
		return nil, err
	}
	if n < 1 || n > 100 || patients < 1 || patients > 1_000_000 {
		return nil, fmt.Errorf("%d nodes of %d patients: 1 to 100, and 1 to 1,000,000", n, patients)
	}
	if adding < 0 || adding == 1 || adding > 10 {
		return nil, fmt.Errorf("%d aggregators: none, or 2 to 10", adding)
	}
	var all []cluster.Member
	var names, aggregators []string
	if adding > 0 {
		aggregators = process.Aggregators(adding)
		all = process.Members(aggregators, process.Config{Owners: []string{coordinatorName}, Leader: aggregators[0]})
	}
	for i := range n {
		name := fmt.Sprintf("node-%d", i+1)
		names = append(names, name)
		data := func(of string, protects federated.Unit) node.Data {
			return node.Data{
				Name: of, CSV: madeFile, Units: int64(patients), Protects: protects,
				Encoding: &example.Encoding{
					Columns: []example.Column{{Name: "age", Type: "integer", Lower: 0, Upper: 100}, {Name: "stays", Type: "integer", Lower: 0, Upper: 20}},
					Target:  &example.Column{Name: "again", Type: "boolean", Values: []string{"false", "true"}},
				},
				Budget: node.Budget{Measure: filter.ZCDP, Epsilon: epsilon, Delta: delta},
				Policy: node.Policy{Askers: []string{coordinatorName}, Trusted: []string{coordinatorName}, Apps: []string{"app"}, Auto: auto, Aggregators: aggregators, Colluding: colluding},
			}
		}
		all = append(all, cluster.Member{Name: name, Kind: "node", Peers: aggregators, Config: made{patients, i, node.Config{Data: []node.Data{data("patients", federated.Person)}}}})
	}
	return append(all,
		cluster.Member{Name: coordinatorName, Kind: "coordinator", Peers: slices.Concat(names, aggregators), Config: Config{Askers: []string{"analyst"}, Aggregators: aggregators}},
		cluster.Member{Name: "analyst", Peers: []string{coordinatorName}},
		cluster.Member{Name: "app", Peers: names[:1]}), nil
}

// madeNode makes the node's patients, if they are not there, and is a node.
func madeNode(ctx context.Context, s *cluster.Station) error {
	var c made
	if err := s.Decode(&c); err != nil {
		return err
	}
	path := s.File(madeFile)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := custody.Replace(path, []byte(patients(c.Number, c.Patients))); err != nil {
			return err
		}
	}
	return node.Run(ctx, s, c.Node)
}

// patients are a table of patients of whom nobody lives: who is old and stayed often comes
// again. Each node's are of other ages.
func patients(number, n int) string {
	var csv strings.Builder
	csv.WriteString("age,stays,again\n")
	state := uint64(number)*1_000_003 + 17
	draw := func(below uint64) int {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return int((z ^ z>>31) % below)
	}
	for range n {
		age, stays := 15+draw(60)+5*(number%5), draw(20)
		again := age+3*stays+draw(20) > 90
		fmt.Fprintf(&csv, "%d,%d,%v\n", age, stays, again)
	}
	return csv.String()
}

// OwnBooks opens the books of the node that stands in a folder, for its owner: beside the
// node's process, or without it.
func OwnBooks(ctx context.Context, s *cluster.Station) (*node.Books, error) {
	var c made
	if s.Decode(&c) != nil || len(c.Node.Data) == 0 {
		return nil, fmt.Errorf("%s is the folder of no node", filepath.Clean(s.Dir))
	}
	return node.OpenBooks(ctx, s.Dir, c.Node, s.Now)
}
