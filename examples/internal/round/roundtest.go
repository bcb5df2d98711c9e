package round

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// Printed runs an example, and returns the number at the end of each line that has one, by the words
// before it.
func Printed(run func(ctx context.Context, out io.Writer) error) (map[string]float64, error) {
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
