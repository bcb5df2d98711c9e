package input

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/scatter"
)

// Scattered is the model that is linear in an image's scattering coefficients.
const Scattered = "scatter"

// A scattering is the transform from images to the features that a network sees. It was
// learned from nobody, and a model's file says which it is.
//
// The coefficients of each image are normalized in groups by that image alone (Tramèr
// and Boneh 2021, arXiv 2011.11660, section 2: group normalization is free, statistics
// of the data set would have to be paid for). So an image's features are a function of
// the image, and what training guarantees of features it guarantees of images.
type scattering struct {
	Scale  int `json:"scale"`
	Angles int `json:"angles"`
	Groups int `json:"groups"`
}

// UsualScattering is that of the paper: 81 channels, in groups of three.
func UsualScattering() *scattering { return &scattering{Scale: 2, Angles: 8, Groups: 27} }

// of are the options for images of a shape.
func (s *scattering) of(shape []int) scatter.Options {
	return scatter.Options{Height: shape[0], Width: shape[1], Scale: s.Scale, Angles: s.Angles, Groups: s.Groups}
}

// Check refuses a transform that does not exist, or that does not normalize: clipping in
// a network could not make up for that.
func (s *scattering) Check(shape []int) error {
	if s.Groups < 1 {
		return fmt.Errorf("scattering coefficients in %d groups", s.Groups)
	}
	return s.of(shape).Check()
}

// Input is the shape in which a network sees an example.
func (d *ModelData) Input() []int {
	switch {
	case d.Scattering != nil:
		return []int{d.Scattering.of(d.Shape).Features()}
	case d.Shape != nil:
		return d.Shape
	}
	return []int{d.Encoding.Width()}
}

// Images reads images as a network sees them.
func (d *ModelData) Images(ctx context.Context, e *Examples, classes int) (*example.Set, error) {
	set, _, err := e.readImages(ctx, example.IDXOptions{Shape: d.Shape[:2], Classes: classes, Unit: d.Scattering != nil})
	if err != nil || d.Scattering == nil {
		return set, err
	}
	transform, err := scatter.New(d.Scattering.of(d.Shape))
	if err != nil {
		return nil, err
	}
	return transform.Set(ctx, set)
}
