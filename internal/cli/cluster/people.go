package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/federated/coordinator"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/collect/multiparty"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
	"github.com/discreet-dp/discreet/filter"
	members "github.com/discreet-dp/discreet/internal/cli/multiparty"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/privacy"
)

// demo is the profile of discreet cluster demo: all models that have processes, over the same
// people.
const demo = "demo"

// demoProfile is all roles in one cluster. A hospital is a holder of the multiparty model and a
// node of the federated one, each with the same people; who is asked through shufflers are the
// people of all hospitals.
func demoProfile() cluster.Profile {
	shuffled := process.Profile()
	return cluster.Profile{
		Name:  demo,
		Short: "the roles of all models, with the same made people: what discreet cluster demo starts",
		Settings: []cluster.Setting{
			{Name: "people", Default: "1000", Usage: "how many people there are"},
			{Name: "hospitals", Default: "3", Usage: "among how many hospitals they are dealt out"},
			{Name: "parties", Default: "3", Usage: "parties that add noise for the hospitals together"},
			{Name: "epsilon", Default: "1", Usage: "what an answer costs in each model"},
			{Name: "delta", Default: "1e-6", Usage: "of the shuffled answers"},
		},
		Members: demoMembers,
		Roles: map[string]cluster.Role{
			"issuer": shuffled.Roles["issuer"], "hop": shuffled.Roles["hop"], "analyzer": shuffled.Roles["analyzer"],
			"party": adds, "holder": holds, "node": trains, "coordinator": coordinator.Role,
		},
	}
}

// A crowd is what the settings say of the people.
type crowd struct {
	People    int             `json:"people"`
	Hospitals int             `json:"hospitals"`
	Parties   int             `json:"parties"`
	Epsilon   privacy.Epsilon `json:"epsilon"`
	Delta     privacy.Delta   `json:"delta"`
}

func readCrowd(s cluster.Settings) (c crowd, err error) {
	var errs [5]error
	c.People, errs[0] = s.Whole("people")
	c.Hospitals, errs[1] = s.Whole("hospitals")
	c.Parties, errs[2] = s.Whole("parties")
	c.Epsilon, errs[3] = privacy.ParseEpsilon(s["epsilon"])
	c.Delta, errs[4] = privacy.ParseDelta(s["delta"])
	if err := errors.Join(errs[:]...); err != nil {
		return c, err
	}
	switch least, most := big.NewRat(1, 20), big.NewRat(10, 1); {
	case c.People < 20 || c.People > 20_000:
		return c, fmt.Errorf("%d people: 20 to 20000", c.People)
	case c.Hospitals < 1 || c.Hospitals > 10 || c.Parties < 2 || c.Parties > 10:
		return c, fmt.Errorf("%d hospitals and %d parties: 1 to 10, and 2 to 10", c.Hospitals, c.Parties)
	case c.Epsilon.Rat().Cmp(least) < 0 || c.Epsilon.Rat().Cmp(most) > 0:
		return c, fmt.Errorf("epsilon %v: 0.05 to 10", c.Epsilon)
	}
	return c, nil
}

// A household is what the role of a hospital decodes.
type household struct {
	crowd
	Number int             `json:"number"` // of the hospital, from 0
	Cast   multiparty.Cast `json:"cast"`   // of a holder
}

func demoMembers(s cluster.Settings) ([]cluster.Member, error) {
	c, err := readCrowd(s)
	if err != nil {
		return nil, err
	}
	q, err := c.question(context.Background())
	if err != nil {
		return nil, err
	}
	text := cluster.Settings{}
	for _, set := range process.Profile().Settings {
		text[set.Name] = set.Default
	}
	text["answers"], text["batch"] = strconv.Itoa(q.Answers), strconv.Itoa(q.Batch)
	text["epsilon"], text["delta"] = q.Epsilon.String(), q.Delta.String()
	all, err := process.Profile().Members(text)
	if err != nil {
		return nil, err
	}
	cast := multiparty.Cast{Askers: []string{asker}}
	var nodes []string
	for i := range c.Parties {
		cast.Parties = append(cast.Parties, fmt.Sprintf("party-%d", i+1))
	}
	for i := range c.Hospitals {
		cast.Holders, nodes = append(cast.Holders, fmt.Sprintf("holder-%d", i+1)), append(nodes, fmt.Sprintf("node-%d", i+1))
	}
	for _, name := range cast.Parties {
		all = append(all, cluster.Member{Name: name, Kind: "party", Config: cast})
	}
	for i, name := range cast.Holders {
		all = append(all, cluster.Member{Name: name, Kind: "holder", Peers: cast.Parties, Config: household{c, i, cast}})
	}
	for i, name := range nodes {
		all = append(all, cluster.Member{Name: name, Kind: "node", Config: household{crowd: c, Number: i}})
	}
	return append(all,
		cluster.Member{Name: asker, Peers: slices.Concat(cast.Holders, cast.Parties), Config: cast},
		cluster.Member{Name: leader, Kind: "coordinator", Peers: nodes, Config: coordinator.Config{Askers: []string{analyst}}},
		cluster.Member{Name: analyst, Peers: []string{leader}}), nil
}

// Members of the demo that have no number.
const (
	asker   = "asker"
	analyst = "analyst"
	leader  = "coordinator"
)

// question is that of the shufflers: the local epsilon is the greatest, in hundredths, whose
// certificate is no more than the epsilon of the other models.
func (c crowd) question(ctx context.Context) (*shuffle.Question, error) {
	q := shuffle.Question{Kind: shuffle.Histogram, Answers: 2, Delta: c.Delta, Batch: c.People, Tokens: true}
	try := func(hundredths int) (bool, error) {
		e, err := privacy.NewEpsilon(big.NewRat(int64(hundredths), 100))
		if err != nil {
			return false, err
		}
		q.Epsilon = e
		p, err := shuffle.New(q)
		if err != nil {
			return false, err
		}
		certificate, err := p.Certify(ctx)
		if err != nil {
			return false, err
		}
		said := new(big.Rat)
		if said.SetFloat64(certificate.Claims[0].Epsilon) == nil {
			return false, nil
		}
		return said.Cmp(c.Epsilon.Rat()) <= 0, nil
	}
	// By itself a bundle is within its own epsilon, but for rounding; 20 is above what any crowd hides.
	low := new(big.Int).Quo(new(big.Int).Mul(c.Epsilon.Rat().Num(), big.NewInt(100)), c.Epsilon.Rat().Denom())
	least, most := int(low.Int64())-1, 2000
	for most-least > 1 {
		middle := (least + most) / 2
		within, err := try(middle)
		if err != nil {
			return nil, err
		}
		if within {
			least = middle
		} else {
			most = middle
		}
	}
	if within, err := try(least); err != nil || !within {
		return nil, errors.Join(fmt.Errorf("no answer through shufflers is within epsilon %v", c.Epsilon), err)
	}
	return &q, nil
}

// smokes tells of a person, of whom none lives. Three in ten smoke.
func smokes(person int) bool {
	z := (uint64(person) + 17) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z^z>>31)%10 < 3
}

const peopleFile = "people.csv"

// table is the people of a hospital, to whom each hospitals-th one comes.
func (h household) table() string {
	var csv strings.Builder
	csv.WriteString("person,smokes\n")
	for person := h.Number; person < h.People; person += h.Hospitals {
		yes := 0
		if smokes(person) {
			yes = 1
		}
		fmt.Fprintf(&csv, "%d,%d\n", person, yes)
	}
	return csv.String()
}

const catalogText = `# A hospital of discreet cluster demo. Its people are made: nobody in them lives.

[domains.person]
neighbours = "add-remove"
measure = "pure"
epsilon = %v

[tables.people]
source = "people.csv"
domain = "person"
unit = "person"
max_groups_per_unit = 1
max_rows_per_group = 1

[tables.people.columns]
person = { type = "bigint" }
smokes = { type = "integer", lower = 0, upper = 1 }
`

// statement is the question to holders.
const statement = "SELECT count(*) AS smokers FROM people WHERE smokes = 1"

func adds(ctx context.Context, s *cluster.Station) error {
	var cast multiparty.Cast
	if err := s.Decode(&cast); err != nil {
		return err
	}
	return multiparty.RunParty(ctx, s, cast)
}

func holds(ctx context.Context, s *cluster.Station) error {
	var h household
	if err := s.Decode(&h); err != nil {
		return err
	}
	return members.Hold(ctx, s, h.Cast, func(dir string) (string, error) {
		if err := custody.Replace(s.File(peopleFile), []byte(h.table())); err != nil {
			return "", err
		}
		path := s.File("discreet.toml")
		return path, custody.Replace(path, fmt.Appendf(nil, catalogText, h.Epsilon))
	})
}

// trains is the process of a node. Its owner approves what the budget has room for.
func trains(ctx context.Context, s *cluster.Station) error {
	var h household
	if err := s.Decode(&h); err != nil {
		return err
	}
	if _, err := os.Lstat(s.File(peopleFile)); errors.Is(err, fs.ErrNotExist) {
		if err := custody.Replace(s.File(peopleFile), []byte(h.table())); err != nil {
			return err
		}
	}
	return node.Run(ctx, s, node.Config{Data: []node.Data{{
		Name: "people", CSV: peopleFile, Units: int64(h.People / h.Hospitals), Protects: federated.Person,
		Encoding: &example.Encoding{Columns: []example.Column{{Name: "smokes", Type: "integer", Lower: 0, Upper: 1}}},
		Budget:   node.Budget{Measure: filter.Pure, Epsilon: h.Epsilon},
		Policy:   node.Policy{Askers: []string{leader}, Auto: h.Epsilon},
	}}})
}
