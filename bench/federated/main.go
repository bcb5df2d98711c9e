// Federated trains the same model centrally and over nodes, on Adult and MNIST, with equal and
// with sorted parts, with and without a guarantee, and prints what share of the test set each
// gets right. With -write it also writes examples and parts for bench/peers/federated.py, which trains the same by
// Flower: bench/federated/run does both, and prints one table.
package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func main() {
	data := flag.String("data", os.Getenv("DISCREET_DATA"), "the folder of the data sets")
	only := flag.String("only", "", "adult or mnist")
	examples := flag.Int("examples", 0, "learn from the first `N` examples of each; 0: from all")
	write := flag.String("write", "", "write what Flower needs to the folder `DIR`")
	flag.Parse()
	if err := run(context.Background(), *data, *only, *write, *examples); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A task is a data set, and how it is learned.
type task struct {
	name        string
	train, test *example.Set
	net         network.Spec
	rate        float64 // of local steps
	server      float64 // of the mean gradient
	clip        float64
}

func run(ctx context.Context, data, only, write string, examples int) error {
	fmt.Println("data   nodes  parts   method                       epsilon  right")
	for _, load := range []func(context.Context, string) (task, error){adult, mnist} {
		t, err := load(ctx, data)
		if err != nil {
			return err
		}
		if only != "" && only != t.name {
			continue
		}
		if examples > 0 && examples < t.train.Len() {
			t.train = t.train.Pick(first(examples))
		}
		if write != "" {
			if err := t.write(write); err != nil {
				return err
			}
		}
		one := []*example.Set{t.train}
		if err := t.learn(ctx, "1", "all", "central, sgd", one, t.plain(3)); err != nil {
			return err
		}
		central, err := t.persons(federated.FedAvg, federated.AtCoordinator)
		if err != nil {
			return err
		}
		if err := t.learn(ctx, "1", "all", "central, dp-fedavg", one, central); err != nil {
			return err
		}
		for _, n := range []int{10, 100} {
			for _, sorted := range []bool{false, true} {
				name, parts := "equal", split(t.train, n, sorted)
				if sorted {
					name = "sorted"
				}
				if err := t.learn(ctx, fmt.Sprint(n), name, "fedavg", parts, t.plain(6)); err != nil {
					return err
				}
				if err := t.learn(ctx, fmt.Sprint(n), name, "dp-fedavg for persons", parts, central); err != nil {
					return err
				}
				whole, err := t.whole()
				if err != nil {
					return err
				}
				if err := t.learn(ctx, fmt.Sprint(n), name, "dp-fedavg for nodes", parts, whole); err != nil {
					return err
				}
			}
		}
		tree, err := t.persons(federated.FTRL, federated.AtCoordinator)
		if err != nil {
			return err
		}
		ten := split(t.train, 10, false)
		if err := t.learn(ctx, "10", "equal", "dp-ftrl for persons", ten, tree); err != nil {
			return err
		}
		local, err := t.persons(federated.FedAvg, federated.AtNodes)
		if err != nil {
			return err
		}
		if err := t.learn(ctx, "10", "equal", "the same, noise at nodes", ten, local); err != nil {
			return err
		}
	}
	return nil
}

func delta() privacy.Delta {
	d, err := privacy.ParseDelta("1e-6")
	if err != nil {
		panic(err)
	}
	return d
}

func epsilon(s string) privacy.Epsilon {
	e, err := privacy.ParseEpsilon(s)
	if err != nil {
		panic(err)
	}
	return e
}

// plain is FedAvg without a guarantee.
func (t task) plain(rounds int) federated.Plan {
	return federated.Plan{Data: t.name, Network: t.net, Unit: federated.Node, Rounds: rounds, Nodes: federated.Nodes{Minimum: 1, Seconds: 1},
		Local: federated.Local{Rate: t.rate}, Server: optimizer.Spec{Rate: 1}}
}

// whole is a plan that protects nodes at epsilon 8.
func (t task) whole() (federated.Plan, error) {
	p := t.plain(6)
	p.Privacy = &federated.Privacy{Method: federated.FedAvg, Place: federated.AtCoordinator, Clip: t.clip, Delta: delta()}
	return p.Calibrate(epsilon("8"), privacy.AddRemove)
}

// persons is a plan that protects persons at epsilon 2: three turns each, in 24 rounds.
func (t task) persons(m federated.Method, place federated.Place) (federated.Plan, error) {
	p := federated.Plan{Data: t.name, Network: t.net, Unit: federated.Person, Rounds: 24, Every: 8, Nodes: federated.Nodes{Minimum: 1, Seconds: 1},
		Server:  optimizer.Spec{Kind: optimizer.Momentum, Rate: t.server},
		Privacy: &federated.Privacy{Method: m, Place: place, Clip: t.clip, Delta: delta()}}
	return p.Calibrate(epsilon("2"), privacy.AddRemove)
}

// learn makes a run in this process, and prints a line of the table.
func (t task) learn(ctx context.Context, nodes, parts, method string, sets []*example.Set, p federated.Plan) error {
	s, err := p.Begin()
	if err != nil {
		return err
	}
	all, blurs := make([]*federated.Part, len(sets)), make([]federated.Blur, len(sets))
	for i, set := range sets {
		turns, err := p.Turns(noise.System(), set.UnitCount())
		if err != nil {
			return err
		}
		if all[i], err = federated.NewPart(p, fmt.Sprint(i), set, turns); err != nil {
			return err
		}
	}
	for s.Round < p.Rounds {
		var answers []federated.Answer
		for i, part := range all {
			u, err := part.Update(ctx, noise.System(), s.Round, s.Weights, s.Clip)
			if err != nil {
				return err
			}
			if p.Privacy != nil && p.Privacy.Place == federated.AtNodes {
				if err := blurs[i].Add(p, noise.System(), s.Round, &u); err != nil {
					return err
				}
			}
			answers = append(answers, federated.Answer{Node: fmt.Sprint(i), Declared: int64(sets[i].Len()), Update: u})
		}
		if err := s.Join(p, noise.System(), answers); err != nil {
			return err
		}
	}
	c, err := p.Certify(privacy.AddRemove)
	if err != nil {
		return err
	}
	cost := "none"
	if c.Guarantee != nil {
		cost = fmt.Sprintf("%.2f", c.Guarantee.Epsilon)
	}
	net, err := p.Net()
	if err != nil {
		return err
	}
	copy(net.Parameters(), s.Weights)
	rows := make([]int, t.test.Len())
	for i := range rows {
		rows[i] = i
	}
	right, err := net.NewPass(network.PassOptions{}).Losses(t.test, rows, make([]float64, len(rows)))
	if err != nil {
		return err
	}
	fmt.Printf("%-6s %5s  %-6s  %-27s  %7s  %.4f\n", t.name, nodes, parts, method, cost, float64(right.Correct)/float64(right.Labels))
	return nil
}

// split gives each node every n-th example, or the examples sorted by class: two pieces of
// them each.
func split(set *example.Set, n int, sorted bool) (parts []*example.Set) {
	for _, r := range deal(set, n, sorted) {
		parts = append(parts, set.Pick(r))
	}
	return parts
}

// first are the first n rows.
func first(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// deal says which examples each node has.
func deal(set *example.Set, n int, sorted bool) [][]int {
	order, rows := first(set.Len()), make([][]int, n)
	if !sorted {
		for i, r := range order {
			rows[i%n] = append(rows[i%n], r)
		}
	} else {
		sort.SliceStable(order, func(a, b int) bool { return set.Labels[order[a]] < set.Labels[order[b]] })
		piece := (len(order) + 2*n - 1) / (2 * n)
		for i, r := range order {
			at := i / piece * 7 % (2 * n) / 2 // pieces that are far from each other
			rows[at] = append(rows[at], r)
		}
	}
	return rows
}

// write writes examples, parts, and what a run for nodes takes, for Flower.
func (t task) write(dir string) error {
	p, err := t.whole()
	if err != nil {
		return err
	}
	about, err := json.Marshal(map[string]any{"name": t.name, "width": t.train.Width, "outputs": t.net.Layers[0].Width, "rate": t.rate, "rounds": p.Rounds,
		"clip": p.Privacy.Clip, "noise": p.Privacy.Noise, "delta": 1e-6})
	if err != nil {
		return err
	}
	files := map[string]any{t.name + "-train.x": t.train.Features, t.name + "-train.y": t.train.Labels, t.name + "-test.x": t.test.Features, t.name + "-test.y": t.test.Labels}
	for _, n := range []int{10, 100} {
		for _, sorted := range []bool{false, true} {
			at := make([]int32, t.train.Len())
			for node, rows := range deal(t.train, n, sorted) {
				for _, r := range rows {
					at[r] = int32(node)
				}
			}
			how := "equal"
			if sorted {
				how = "sorted"
			}
			files[fmt.Sprintf("%s-%d-%s.i4", t.name, n, how)] = at
		}
	}
	for name, values := range files {
		var data bytes.Buffer
		if err := binary.Write(&data, binary.LittleEndian, values); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, t.name+".json"), about, 0o600)
}

func mnist(ctx context.Context, data string) (t task, err error) {
	read := func(images, labels string) (*example.Set, error) {
		set, _, err := example.IDX(ctx, example.IDXOptions{Images: filepath.Join(data, "mnist", images), Labels: filepath.Join(data, "mnist", labels), Unit: true})
		return set, err
	}
	t = task{name: "mnist", rate: 0.1, server: 2, clip: 1, net: network.Spec{Input: []int{784}, Layers: []network.Layer{{Type: "linear", Width: 10}}, Loss: network.CrossEntropy}}
	if t.train, err = read("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"); err != nil {
		return t, err
	}
	t.test, err = read("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
	return t, err
}

func adult(ctx context.Context, data string) (t task, err error) {
	e := &example.Encoding{
		Columns: []example.Column{
			{Name: "age", Type: "integer", Lower: 17, Upper: 90, Bins: 16}, {Name: "education_num", Type: "integer", Lower: 1, Upper: 16},
			{Name: "hours_per_week", Type: "integer", Lower: 1, Upper: 99}, {Name: "capital_gain", Type: "integer", Lower: 0, Upper: 100000, Bins: 16},
			{Name: "capital_loss", Type: "integer", Lower: 0, Upper: 5000, Bins: 16}, {Name: "sex", Type: "text", Values: []string{"Female", "Male"}},
			{Name: "marital_status", Type: "text", Values: []string{"Divorced", "Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent", "Never-married", "Separated", "Widowed"}},
			{Name: "relationship", Type: "text", Values: []string{"Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"}},
		},
		Target: &example.Column{Name: "income", Type: "text", Values: []string{"<=50K", ">50K"}},
	}
	t = task{name: "adult", rate: 0.1, server: 4, clip: 1, net: network.Spec{Input: []int{e.Width()}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic}}
	if t.train, err = example.CSV(ctx, filepath.Join(data, "adult-train.csv"), e, "", example.Selection{PerUnit: 1}); err != nil {
		return t, err
	}
	t.test, err = example.CSV(ctx, filepath.Join(data, "adult-test.csv"), e, "", example.Selection{PerUnit: 1})
	return t, err
}
