package process

import "testing"

// Whatever waits is passed on in batches that are large enough and that the receiver takes.
func TestPieces(t *testing.T) {
	const size = 7
	for n := range 5 * size {
		total := 0
		for _, piece := range pieces(make([]item, n), size) {
			if len(piece) < size || len(piece) >= 2*size {
				t.Errorf("of %d respondents a batch has %d", n, len(piece))
			}
			total += len(piece)
		}
		if want := n; n >= size && total != want || n < size && total != 0 {
			t.Errorf("of %d respondents %d are passed on", n, total)
		}
	}
}
