package example

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	good := func() *Set {
		return &Set{Width: 2, Features: []float32{1, 2, 3, 4}, Classes: 3, Outputs: 1, Labels: []int32{2, -1}, Units: []int32{1, 0}}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	odd := good()
	odd.Labels = []int32{3, -7}
	if err := odd.Validate(); err != nil || odd.Label(0) != -1 || odd.Label(1) != -1 || odd.Labelled(0) || !good().Labelled(0) {
		t.Errorf("labels that are none of the classes: %v", err)
	}
	if err := (&Set{Width: 3, Classes: 2, Outputs: 1}).Validate(); err != nil {
		t.Errorf("an empty set: %v", err)
	}
	if err := (&Set{Width: 1, Features: []float32{1}, Outputs: 2, Targets: []float32{1, 2}}).Validate(); err != nil {
		t.Errorf("a regression: %v", err)
	}
	for name, spoil := range map[string]func(*Set){
		"no width":          func(s *Set) { s.Width = 0 },
		"part of a row":     func(s *Set) { s.Features = s.Features[1:] },
		"no outputs":        func(s *Set) { s.Outputs = 0 },
		"a label too many":  func(s *Set) { s.Labels = append(s.Labels, 1) },
		"targets as well":   func(s *Set) { s.Targets = []float32{1, 2} },
		"labels, no class":  func(s *Set) { s.Classes = 0 },
		"a name too few":    func(s *Set) { s.Names = []string{"a"} },
		"names of nobody":   func(s *Set) { s.Units, s.Names = nil, []string{"a", "b"} },
		"a unit too few":    func(s *Set) { s.Units = s.Units[1:] },
		"units with a gap":  func(s *Set) { s.Units[0] = 3 },
		"units below 0":     func(s *Set) { s.Units[0] = -1 },
		"nobody's unit 0":   func(s *Set) { s.Units = []int32{1, 1} },
		"classes below 0":   func(s *Set) { s.Classes = -1 },
		"nothing but units": func(s *Set) { *s = Set{Units: []int32{0}} },
	} {
		s := good()
		spoil(s)
		if err := s.Validate(); !errors.Is(err, ErrSet) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPick(t *testing.T) {
	s := &Set{Width: 1, Features: []float32{10, 11, 12, 13}, Classes: 4, Outputs: 1, Labels: []int32{0, 1, 2, 3}, Units: []int32{0, 2, 1, 2}, Names: []string{"a", "b", "c"}}
	p := s.Pick([]int{3, 0, 1})
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Features, []float32{13, 10, 11}) || !slices.Equal(p.Labels, []int32{3, 0, 1}) || !slices.Equal(p.Units, []int32{0, 1, 0}) || !slices.Equal(p.Names, []string{"c", "a"}) {
		t.Errorf("%v %v %v %v", p.Features, p.Labels, p.Units, p.Names)
	}
	if s.UnitCount() != 3 || p.UnitCount() != 2 || (&Set{Width: 1, Features: []float32{1, 2}}).UnitCount() != 2 {
		t.Error("units are miscounted")
	}
}

// A set prints nowhere, also not in a field.
func TestSetPrintsNowhere(t *testing.T) {
	s := Set{Width: 1, Features: []float32{421337}, Classes: 2, Outputs: 1, Labels: []int32{1}}
	for _, v := range []any{s, &s, []Set{s}, struct{ S Set }{s}, map[string]*Set{"s": &s}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%g"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "421337") || strings.Contains(text, "4.21337") {
				t.Errorf("%s prints %s", verb, text)
			}
		}
		if _, err := json.Marshal(v); err == nil {
			t.Error("it is marshalled")
		}
	}
}
