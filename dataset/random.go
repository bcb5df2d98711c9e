package dataset

import (
	"fmt"

	"github.com/discreet-dp/discreet/noise"
)

// shuffle puts items in a uniformly random order (Fisher and Yates).
func shuffle[T any](bits noise.Bits, items []T) error { return draw(bits, items, len(items)) }

// draw puts a uniformly random selection, in a uniformly random order, in the first k
// places.
func draw[T any](bits noise.Bits, items []T, k int) error {
	for i := range min(k, len(items)-1) {
		j, err := below(bits, uint64(len(items)-i))
		if err != nil {
			return err
		}
		items[i], items[i+int(j)] = items[i+int(j)], items[i]
	}
	return nil
}

// below returns each of 0 to n-1 with the same probability: what lies under the
// remainder of 2^64 by n is drawn again.
func below(bits noise.Bits, n uint64) (uint64, error) {
	for {
		x, err := bits.Uint64()
		if err != nil {
			return 0, fmt.Errorf("choose records: %w", err)
		}
		if x >= -n%n {
			return x % n, nil
		}
	}
}
