package diagnostic_test

import (
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

func TestCause(t *testing.T) {
	outer, inner := errors.New("bad mechanism parameter"), errors.New("bad noise parameter")
	_, number := strconv.Atoi("x")
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("it failed"), "it failed"},
		{outer, "bad mechanism parameter"},
		{fmt.Errorf("calibrate noise: %w", outer), "bad mechanism parameter"},
		{fmt.Errorf("%w: there are no candidates", outer), "there are no candidates"},
		{fmt.Errorf("choose: %w", fmt.Errorf("%w: there are no candidates", outer)), "there are no candidates"},
		{fmt.Errorf("calibrate noise: %w: %w", outer, fmt.Errorf("%w: the scale is too long", inner)), "the scale is too long"},
		{number, "invalid syntax"},
		{errors.Join(outer, inner), "bad noise parameter"},
	} {
		if got := diagnostic.Cause(test.err); got != test.want {
			t.Errorf("%v: got %q, want %q", test.err, got, test.want)
		}
	}
}
