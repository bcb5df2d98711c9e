// Package roundtest holds examples of federated learning against what their pages say.
package roundtest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Band is what a number lies between.
type Band [2]float64

// Within fails the test unless an example prints all of these numbers, each within its band. They are random:
// bands reach 5 standard deviations or more to each side of what 20 to 60 runs printed. Little is known of their
// tails. Where these fall as slowly as an exponential law's, a run is outside with a probability below 1e-3, and
// three in a row, which is when the test fails, below 1e-9. What is wrong is outside each time.
func Within(t *testing.T, run func(ctx context.Context, out io.Writer) error, bands map[string]Band) {
	t.Helper()
	var wrong []string
	for range 3 {
		got, err := printed(run)
		if err != nil {
			t.Fatal(err)
		}
		if wrong = outside(got, bands); len(wrong) == 0 {
			return
		}
		t.Logf("outside: %q", wrong)
	}
	t.Errorf("three runs are outside, the last by %q", wrong)
}

func outside(got map[string]float64, bands map[string]Band) (wrong []string) {
	for name, b := range bands {
		if x, ok := got[name]; !ok || !(b[0] <= x && x <= b[1]) {
			wrong = append(wrong, fmt.Sprintf("%s: %v, and not from %v to %v", name, x, b[0], b[1]))
		}
	}
	return wrong
}

// printed runs an example, and returns the number at the end of each line that has one, by the words
// before it.
func printed(run func(ctx context.Context, out io.Writer) error) (map[string]float64, error) {
	var out strings.Builder
	if err := run(context.Background(), &out); err != nil {
		return nil, err
	}
	numbers := map[string]float64{}
	for line := range strings.Lines(out.String()) {
		name, number := strings.TrimSpace(line), 0.0
		if at := strings.LastIndex(name, " "); at >= 0 {
			if _, err := fmt.Sscanf(name[at+1:], "%f", &number); err == nil {
				numbers[strings.TrimSpace(name[:at])] = number
			}
		}
	}
	return numbers, nil
}
