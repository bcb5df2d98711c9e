package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/collect/local/client"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A map stands for the ledger that package budget/durable keeps, which also charges.
type shelf map[string][]byte

func (s shelf) Registered(_ context.Context, key, _ string) ([]byte, error) { return s[key], nil }

func (s shelf) Register(_ context.Context, key string, _ budget.Release, value []byte) ([]byte, error) {
	if s[key] == nil {
		s[key] = value
	}
	return s[key], nil
}

// A question that is asked again has the same answer.
func Example() {
	epsilon, err := privacy.ParseEpsilon("1")
	if err != nil {
		log.Fatal(err)
	}
	f, err := local.NewFrequency(local.FrequencyOptions{Protocol: local.GRR, Values: 4, Epsilon: epsilon})
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(client.Options{Answers: shelf{}, Bits: noise.System()})
	if err != nil {
		log.Fatal(err)
	}
	q := client.Question{Text: "Which of four?", Form: "grr, epsilon 1, 4 values", Event: f.Event()}
	var answers []string
	for _, asker := range []string{"alice", "bob"} {
		a, err := c.Answer(context.Background(), asker, q, func(s *noise.Stream) (string, error) {
			r, err := f.Randomize(s, 2)
			return f.Format(r), err
		})
		if err != nil {
			log.Fatal(err)
		}
		answers = append(answers, a.Report)
	}
	fmt.Println(answers[0] == answers[1])
	// Output: true
}
