package leakage_test

import (
	"context"
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/leakage"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/noise"
)

// How well a score tells members of a training set from others.
func ExampleNewROC() {
	var scores []float64
	var member []bool
	for i := range 1000 {
		member = append(member, i%2 == 0)
		score := float64(i%7) / 7
		if i%10 == 0 {
			score = 1 // a tenth of all, all of them members, is found out
		}
		scores = append(scores, score)
	}
	roc, err := leakage.NewROC(scores, member)
	if err != nil {
		log.Fatal(err)
	}
	rate, err := roc.At(0.01, 0.95)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("AUC %.2f hides it\n", roc.AUC())
	fmt.Printf("of members %.2f are found out, within [%.2f, %.2f]\n", rate.TPR, rate.TPRLow, rate.TPRHigh)
	// Output:
	// AUC 0.60 hides it
	// of members 0.20 are found out, within [0.17, 0.24]
}

// A canary that is likelier than every reference has the largest exposure that these
// can show.
func ExampleMeasureExposure() {
	references := make([]float64, 1023)
	for i := range references {
		references[i] = 20 + float64(i%100)/10
	}
	r, err := leakage.MeasureExposure(7, references)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("exposure %.1f of %.1f bits\n", r.Rank, r.Most)
	// Output: exposure 10.0 of 10.0 bits
}

// A trainer that learns its rows by heart is audited in one run, with canaries of which
// a coin decides each.
func ExampleOneRun() {
	canaries, err := leakage.Mislabelled(noise.System(), 200, 200, 2, -1, 1)
	if err != nil {
		log.Fatal(err)
	}
	spec := network.Spec{Input: []int{200}, Layers: []network.Layer{{Type: "linear", Width: 2}}, Loss: network.CrossEntropy}
	seen, err := leakage.NewLossObserver(spec, canaries, 0)
	if err != nil {
		log.Fatal(err)
	}
	descent := leakage.TrainerFunc(func(_ context.Context, set *example.Set, rows []int, see func([]float32)) error {
		net, err := network.New(spec)
		if err != nil {
			return err
		}
		pass := net.NewPass(network.PassOptions{Workers: 1})
		sum := make([]float32, len(net.Parameters()))
		see(net.Parameters())
		for range 20 {
			if _, err := pass.Gradient(set, rows, sum); err != nil {
				return err
			}
			for i, g := range sum {
				net.Parameters()[i] -= g / 100
			}
		}
		see(net.Parameters())
		return nil
	})
	r, err := leakage.OneRun(context.Background(), descent, canaries, 0, seen, noise.System(), leakage.GuessOptions{Delta: 1e-5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Canaries, "canaries; more than epsilon 1 is proved:", r.Epsilon > 1)
	// Output: 200 canaries; more than epsilon 1 is proved: true
}
