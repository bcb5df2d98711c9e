package remote

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/datafile"
)

// NoFiles is the part of an owner's handle that is about files, of which a database has none.
type NoFiles struct{}

var errFiles = errors.New("a database has no files that are looked at")

// Records fails.
func (NoFiles) Records(context.Context, []datafile.File, engine.Text) (string, error) {
	return "", errFiles
}

// Lots fails.
func (NoFiles) Lots(context.Context, *datafile.Pattern, []datafile.File) ([]engine.Lot, error) {
	return nil, errFiles
}

// NoParameters refuses parameters of an owner's statement: what they would be is written into it.
func NoParameters(args []any) error {
	if len(args) > 0 {
		return errors.New("a statement of the owner over a database has no parameters")
	}
	return nil
}
