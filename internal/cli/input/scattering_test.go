package input

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/learn/example"
)

// A file that says a transform that there is not, or one of records, is refused before
// anything is made of it.
func TestScatteringsOfFiles(t *testing.T) {
	unusable := func(err error) error { return err }
	square := []int{28, 28, 1}
	for name, d := range map[string]ModelData{
		"none":       {Shape: square, Scattering: &scattering{}},
		"no groups":  {Shape: square, Scattering: &scattering{Scale: 2, Angles: 8}},
		"odd groups": {Shape: square, Scattering: &scattering{Scale: 2, Angles: 8, Groups: 26}},
		"no scale":   {Shape: square, Scattering: &scattering{Angles: 8, Groups: 1}},
		"coarse":     {Shape: square, Scattering: &scattering{Scale: 5, Angles: 8, Groups: 1}},
		"shifts":     {Shape: square, Scattering: &scattering{Scale: 1 << 40, Angles: 8, Groups: 1}},
		"negative":   {Shape: square, Scattering: &scattering{Scale: -1, Angles: -8, Groups: -1}},
		"too small":  {Shape: []int{7, 28, 1}, Scattering: UsualScattering()},
		"too large":  {Shape: []int{1 << 13, 28, 1}, Scattering: UsualScattering()},
		"records":    {Encoding: &example.Encoding{}, Scattering: UsualScattering()},
	} {
		if err := d.check(unusable); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	d := ModelData{Shape: square, Scattering: UsualScattering()}
	if err := d.check(unusable); err != nil || !slices.Equal(d.Input(), []int{3969}) {
		t.Errorf("%v, %v", err, d.Input())
	}
	if d.Scattering = nil; !slices.Equal(d.Input(), square) {
		t.Errorf("without scattering %v", d.Input())
	}
}
