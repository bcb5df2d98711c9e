package federated_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/network"
	"github.com/discreet-dp/discreet/learn/optimizer"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// Three hospitals learn together, and each of their patients is protected.
func Example() {
	delta, _ := privacy.ParseDelta("1e-6")
	epsilon, _ := privacy.ParseEpsilon("2")
	plan, err := federated.Plan{
		Data:    "patients",
		Network: network.Spec{Input: []int{1}, Layers: []network.Layer{{Type: "linear", Width: 1}}, Loss: network.Logistic},
		Unit:    federated.Person,
		Rounds:  20,
		Nodes:   federated.Nodes{Minimum: 2, Seconds: 30},
		Server:  optimizer.Spec{Rate: 4},
		Privacy: &federated.Privacy{Method: federated.FedAvg, Place: federated.AtCoordinator, Clip: 1, Delta: delta},
	}.Calibrate(epsilon, privacy.AddRemove)
	if err != nil {
		fmt.Println(err)
		return
	}
	certificate, err := plan.Certify(privacy.AddRemove)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("noise %.1f, epsilon %.2f for a %s\n", plan.Privacy.Noise, certificate.Guarantee.Epsilon, certificate.Unit)

	var hospitals []*federated.Part
	for h := range 3 {
		patients := &example.Set{Width: 1, Classes: 2, Outputs: 1}
		for i := range 1000 {
			x := float32((i*(h+3))%200)/100 - 1
			label := int32(0)
			if x > 0.2 {
				label = 1
			}
			patients.Features, patients.Labels = append(patients.Features, x), append(patients.Labels, label)
		}
		turns, err := plan.Turns(noise.System(), patients.UnitCount())
		if err != nil {
			fmt.Println(err)
			return
		}
		part, err := federated.NewPart(plan, fmt.Sprint("hospital ", h), patients, turns)
		if err != nil {
			fmt.Println(err)
			return
		}
		hospitals = append(hospitals, part)
	}
	state, err := plan.Begin()
	if err != nil {
		fmt.Println(err)
		return
	}
	for state.Round < plan.Rounds {
		var answers []federated.Answer
		for h, part := range hospitals {
			update, err := part.Update(context.Background(), noise.System(), state.Round, state.Weights, state.Clip)
			if err != nil {
				fmt.Println(err)
				return
			}
			answers = append(answers, federated.Answer{Node: fmt.Sprint("hospital ", h), Declared: 1000, Update: update})
		}
		if err := state.Join(plan, noise.System(), answers); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println("the weight is positive:", state.Weights[0] > 1)
	// Output:
	// noise 10.7, epsilon 2.00 for a person
	// the weight is positive: true
}
