package main

import (
	"context"
	"flag"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/examples/internal/programtest"
)

var rewrite = flag.Bool("rewrite", false, "draw the plot anew")

func TestProgram(t *testing.T) { programtest.Check(t, "averageattack", run, *rewrite) }

// Each defence lets the attacker be right as often as the table says: of 400 attacks the
// number is within 6.5 standard deviations, which fails with probability below 1e-9 for
// the three together.
func TestAttacks(t *testing.T) {
	const people, questions = 400, 11
	for i, p := range []float64{program.Majority(questions, truth), truth, program.Majority(given, truth)} {
		right := 0
		for person := range people {
			bit := float64(person % 2)
			answers, err := attack(context.Background(), bit, defences[i].access, questions)
			if err != nil {
				t.Fatal(err)
			}
			if want := []int{questions, questions, given}[i]; len(answers) != want {
				t.Fatalf("%s: %d answers, want %d", defences[i].name, len(answers), want)
			}
			if majority(answers) == bit {
				right++
			}
		}
		if sd := math.Sqrt(people * p * (1 - p)); math.Abs(float64(right)-people*p) > 6.5*sd {
			t.Errorf("%s: right %d times of %d, want %.1f", defences[i].name, right, people, people*p)
		}
	}
}

// No attacker on what a budget of 4 lets out does better than its ceiling, and the
// unmetered one does.
func TestCeiling(t *testing.T) {
	limit := program.Ceiling(4, 0)
	if program.Majority(given, truth) > limit || program.Majority(101, truth) < limit {
		t.Error("the ceiling separates nothing")
	}
	if access, err := defences[2].access(); err != nil || access.(datanode.Adaptive).Budget.Name() != "person" {
		t.Error(err)
	}
}
