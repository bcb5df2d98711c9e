package source_test

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// Noise on a grid moves by its steps: by whole numbers, and by distances of what is on the
// same grid, but by no part of them.
func TestWholeSteps(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/exact")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range read[0].Units {
		if u.Name != "NamedScale" {
			continue
		}
		draw := program.Draw{Law: program.Laplace, Parameter: scaleOf(u.Function.Body)}
		for shift, want := range map[string]bool{
			"-diff(grid(x, scale))":                false, // as it stands the scale is written out
			"-diff(grid(x, 1 / (eps / 2)))":        true,
			"2*diff(grid(x, 1 / (eps / 2))) - 3.0": true,
			"-diff(grid(x, 1 / eps / 2))":          false,
			"(-1/3) * diff(grid(x, scale))":        false,
			"-1/2":                                 false,
			"0.5":                                  false,
			"cond(x > 0.3, 1, 0)":                  true,
			"cond(x > 0.3, 1, diff(x))":            false,
			"max(-1, 2)":                           true,
			"diff(x)*diff(x)":                      false,
			"eps":                                  false,
			"":                                     false,
		} {
			if got := source.WholeSteps(u.Function, u.Claim, &draw, shift); got != want {
				t.Errorf("%s: %v", shift, got)
			}
		}
		draw.Law = program.DiscreteLaplace
		if !source.WholeSteps(u.Function, u.Claim, &draw, "-diff(x)/2") {
			t.Error("what is whole needs no grid")
		}
		return
	}
	t.Fatal("NamedScale is not there")
}

func scaleOf(list []program.Statement) program.Expression {
	for _, s := range list {
		if d, ok := s.(program.Draw); ok {
			return d.Parameter
		}
	}
	return nil
}
