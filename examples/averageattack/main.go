// Averageattack asks one person for one bit, again and again, and takes the majority of
// the answers: what a guarantee for each answer is worth, and what helps. Each answer
// is by two fair coins, ln 3 = 1.0986 of privacy: true three times of four.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/datanode"
	"github.com/discreet-dp/discreet/examples/internal/program"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/privacy"
)

const (
	truth = 0.75
	whole = "4" // the budget: three answers fit
	given = 3
)

func main() { program.Main(run) }

var asked = []int{1, 3, 11, 31, 101}

func run(ctx context.Context, out io.Writer) (plot.Plot, error) {
	fmt.Fprintf(out, "how often the attacker is right; with a budget of %s never more than %.4f\n\nquestions  unmetered  permanent  budget\n", whole, program.Ceiling(4, 0))
	for _, n := range asked {
		fmt.Fprintf(out, "%9d  %9.4f  %9.4f  %6.4f\n", n, program.Majority(n, truth), truth, program.Majority(min(n, given), truth))
	}

	const people = 200
	fmt.Fprintf(out, "\n%s %d people are attacked with 101 questions\n", program.Drawn, people)
	for _, d := range defences {
		right := 0
		for person := range people {
			bit := float64(person % 2)
			answers, err := attack(ctx, bit, d.access, 101)
			if err != nil {
				return plot.Plot{}, err
			}
			if majority(answers) == bit {
				right++
			}
		}
		fmt.Fprintf(out, "%9s  right %d times\n", d.name, right)
	}
	return success(), nil
}

// defences are access definitions; each person has one of their own.
var defences = []struct {
	name   string
	access func() (datanode.Access, error)
}{
	{"unmetered", func() (datanode.Access, error) {
		return datanode.Unmetered{Mechanism: coins(), Decision: datanode.Decision{By: "the example", Why: "to be attacked"}}, nil
	}},
	{"permanent", func() (datanode.Access, error) { return coins(), nil }},
	{"budget", func() (datanode.Access, error) {
		b, err := budget.NewInMemory("person", filter.Budget{Measure: filter.Pure, Epsilon: program.Epsilon(whole), Neighbours: privacy.ReplaceOne})
		return datanode.Adaptive{Budget: b, Mechanism: coins()}, err
	}},
}

func coins() datanode.Mechanism {
	return datanode.TwoCoin{First: program.Rat("1/2"), Second: program.Rat("1/2")}
}

// attack asks one person so often, and returns what was answered.
func attack(ctx context.Context, bit float64, access func() (datanode.Access, error), questions int) (answers []float64, err error) {
	node, err := program.Node([]float64{bit})
	if err != nil {
		return nil, err
	}
	a, err := access()
	if err != nil {
		return nil, err
	}
	if err := node.Configure(ctx, "x", a); err != nil {
		return nil, err
	}
	for range questions {
		a, err := node.Query(ctx, "x")
		if errors.Is(err, datanode.ErrBudgetExceeded) {
			break // for good
		}
		if err != nil {
			return nil, err
		}
		answers = append(answers, a.Value())
	}
	return answers, nil
}

func majority(answers []float64) float64 {
	sum := 0.0
	for _, a := range answers {
		sum += a
	}
	return math.Round(sum / float64(len(answers)))
}

func success() plot.Plot {
	unmetered, permanent, metered, ceiling := plot.Line{Name: "unmetered"}, plot.Line{Name: "permanent"}, plot.Line{Name: "budget of 4"}, plot.Line{Name: "most that 4 allows", Dashed: true}
	for n := 1; n <= 101; n += 2 {
		at := func(l *plot.Line, y float64) { l.Points = append(l.Points, plot.Point{X: float64(n), Y: y}) }
		at(&unmetered, program.Majority(n, truth))
		at(&permanent, truth)
		at(&metered, program.Majority(min(n, given), truth))
		at(&ceiling, program.Ceiling(4, 0))
	}
	return plot.Plot{
		Title: "The average attack on one bit", X: plot.Axis{Label: "questions"}, Y: plot.Axis{Label: "probability of being right"},
		Lines: []plot.Line{unmetered, permanent, metered, ceiling},
	}
}
