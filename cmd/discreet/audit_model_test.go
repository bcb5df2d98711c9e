package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
)

// A model whose scores are nearly all the same, at one limit or the other, proves
// nothing of its training, though members are read before the others. The audit is wrong
// with probability 1e-10, and the test with it; ties by place had an epsilon above 0
// with probability all but 1 (600 free guesses of 1,400).
func TestAuditModelOfTies(t *testing.T) {
	t.Parallel()
	const records = 800
	random := rand.New(rand.NewPCG(1, 2))
	var csv strings.Builder
	csv.WriteString("x,y\n")
	for i := range records {
		fmt.Fprintf(&csv, "%d,%c\n", i, "ab"[max(0, random.IntN(50)-48)])
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{"ties.csv": csv.String()})
	data, model := filepath.Join(dir, "ties.csv"), filepath.Join(dir, "ties.model")
	run(t, t.Context(), 0, "train", "--csv", data, "--columns", fmt.Sprintf("x=0..%d", records), "--target", "y=a|b", "--model", "logistic", "--bins", "0",
		"--target-epsilon", "0.1", "--holdout", "0.5", "-n", "400", "--steps", "20", "--sampling", "0.2", "--rate", "1e30", "--optimizer", "sgd", "--out", model)
	out, _ := run(t, t.Context(), 0, "audit", "model", "--model-file", model, "--csv", data, "--confidence", "0.9999999999", "--json")
	var r struct {
		Bound *struct {
			Guesses, Correct int
			Epsilon, Mu      float64
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Bound == nil {
		t.Fatalf("%v: %s", err, out)
	}
	if r.Bound.Guesses < records/2 || r.Bound.Epsilon > 0 || r.Bound.Mu > 0 {
		t.Errorf("%+v", *r.Bound)
	}
}

// However the examples fall into two sides, the mixed set is the same to the bit: what
// an attack computes of it has seen membership through the model alone.
func TestMixedSidesHideMembership(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	values := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 1e-30, float32(math.NaN()), float32(math.Inf(1))}
	for range 200 {
		n := 2 + random.IntN(40)
		all := &example.Set{Width: 2, Classes: 3, Outputs: 1}
		for range n {
			all.Features = append(all.Features, values[random.IntN(len(values))], float32(random.IntN(30)))
			all.Labels = append(all.Labels, int32(random.IntN(3)))
		}
		var first *example.Set
		for range 5 {
			order, cut := random.Perm(n), random.IntN(n+1)
			members := all.Pick(order[:cut])
			set, member := mixed(members, all.Pick(order[cut:]))
			if first == nil {
				first = set
			}
			bits := func(s *example.Set) (out []uint32) {
				for _, x := range s.Features {
					out = append(out, math.Float32bits(x))
				}
				return out
			}
			if !slices.Equal(bits(set), bits(first)) || !slices.Equal(set.Labels, first.Labels) {
				t.Fatal("the order of the mixed set depends on who is a member")
			}
			count := 0
			for i, in := range member {
				if in {
					count++
					if !slices.ContainsFunc(order[:cut], func(row int) bool {
						return slices.Equal(bits(all.Pick([]int{row})), bits(set.Pick([]int{i}))) && all.Labels[row] == set.Labels[i]
					}) {
						t.Fatal("somebody else is called a member")
					}
				}
			}
			if count != cut {
				t.Fatalf("%d members of %d", count, cut)
			}
		}
	}
}
