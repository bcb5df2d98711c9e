package local

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// A family is public hash functions, drawn from a salt: all respondents have the same.
type family struct {
	hash hash
	keys [][2]uint64
}

func newFamily(salt string, n, buckets int) family {
	f := family{hash{prime, uint64(buckets)}, make([][2]uint64, n)}
	for i := range f.keys {
		for try := 0; ; try++ { // SHA-256 as a random function; numbers below the prime are kept
			d := sha256.Sum256(fmt.Appendf(nil, "discreet local hash\x00%s\x00%d\x00%d", salt, i, try))
			a, b := binary.BigEndian.Uint64(d[:8])>>3, binary.BigEndian.Uint64(d[8:16])>>3
			if a < prime && b < prime {
				f.keys[i] = [2]uint64{a, b}
				break
			}
		}
	}
	return f
}

func (f family) bucket(i, value int) int {
	return int(f.hash.bucket(f.hash.at(f.keys[i][0], f.keys[i][1], uint64(value))))
}

// maxOverlapped is how many values have intervals where hash functions are public: their
// overlaps are found pair by pair.
const maxOverlapped = 4096

// overlaps returns for each value the least and the greatest share of cells that it has in
// common with another one, over all rows; nil for too many values. A value has width cells in
// each row.
func overlaps(k, rows, width int, cells func(row, value int) []int) (least, most []float64) {
	if k > maxOverlapped {
		return nil, nil
	}
	common := make([]uint32, k*k)
	for row := range rows {
		in := map[int][]int{}
		for v := range k {
			for _, c := range cells(row, v) {
				for _, x := range in[c] {
					common[v*k+x]++
					common[x*k+v]++
				}
				in[c] = append(in[c], v)
			}
		}
	}
	least, most = make([]float64, k), make([]float64, k)
	for v := range k {
		others := slices.Concat(common[v*k:v*k+v], common[v*k+v+1:(v+1)*k])
		least[v] = float64(slices.Min(others)) / float64(rows*width)
		most[v] = float64(slices.Max(others)) / float64(rows*width)
	}
	return least, most
}
