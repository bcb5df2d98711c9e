//go:build unix

package federated

import (
	"encoding/json"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
)

// digits are n examples of the size of MNIST's.
func digits(n int) *example.Set {
	s := &example.Set{Width: 784, Classes: 10, Outputs: 1, Features: make([]float32, 784*n)}
	for i := range s.Features {
		s.Features[i] = float32(i*7919%256) / 255
	}
	for i := range n {
		s.Labels = append(s.Labels, int32(i%10))
	}
	return s
}

// BenchmarkRoles measures what docs/collect/scale.md multiplies: processor time of each part of a round, of a
// line over MNIST's points (7,850 weights) and of a network with a hidden layer of 128 (101,770), by ten nodes of
// 600 persons.
func BenchmarkRoles(b *testing.B) {
	const persons, nodes = 600, 10
	for _, layers := range [][]network.Layer{{{Type: "linear", Width: 10}}, {{Type: "linear", Width: 128}, {Type: "relu"}, {Type: "linear", Width: 10}}} {
		p := nodesPlan(4096)
		p.Network = network.Spec{Input: []int{784}, Layers: layers, Loss: network.CrossEntropy}
		own := p
		own.Unit, own.Local = Person, Local{}
		set, net := digits(persons), must(p.Net())
		weights := net.Parameters()
		d := float64(len(weights))
		part := must(NewPart(p, "a", set, nil))
		people := must(NewPart(own, "a", set, must(own.Turns(noise.System(), persons))))
		update := must(part.Update(ctx, noise.System(), 0, weights, 1))
		text := must(json.Marshal(update))
		measure := func(name, of string, count float64, do func(b *testing.B, i int)) {
			b.Run(fmt.Sprintf("%s/%.0f", name, d), func(b *testing.B) {
				var from, to unix.Rusage
				must(0, unix.Getrusage(unix.RUSAGE_SELF, &from))
				for i := range b.N {
					do(b, i)
				}
				must(0, unix.Getrusage(unix.RUSAGE_SELF, &to))
				took := to.Utime.Nano() - from.Utime.Nano() + to.Stime.Nano() - from.Stime.Nano()
				b.ReportMetric(float64(took)/float64(b.N)/count, "cpu-ns/"+of)
				b.ReportMetric(float64(len(text)), "bytes/update")
			})
		}
		measure("gradients", "person", persons, func(*testing.B, int) { must(people.Update(ctx, noise.System(), 0, weights, 1)) })
		measure("training", "example", persons, func(*testing.B, int) { must(part.Update(ctx, noise.System(), 0, weights, 1)) })
		measure("noise", "weight", d, func(b *testing.B, _ int) {
			u := Update{Sum: append(Integers{}, update.Sum...)}
			var blur Blur
			if err := blur.Add(p, noise.System(), 0, &u); err != nil {
				b.Fatal(err)
			}
		})
		measure("write", "weight", d, func(*testing.B, int) { must(json.Marshal(update)) })
		measure("read", "weight", d, func(b *testing.B, _ int) {
			var u Update
			if err := json.Unmarshal(text, &u); err != nil {
				b.Fatal(err)
			}
		})
		measure("join", "weight-and-node", d*nodes, func(b *testing.B, _ int) {
			s := must(p.Begin())
			var answers []Answer
			for i := range nodes {
				answers = append(answers, Answer{Node: fmt.Sprint(i), Declared: persons, Update: update})
			}
			q := p
			v := *p.Privacy
			v.Place, q.Privacy = AtNodes, &v // whose noise is there
			if err := s.Join(q, noise.System(), answers); err != nil {
				b.Fatal(err)
			}
		})
	}
}
