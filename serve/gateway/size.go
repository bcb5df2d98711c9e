package gateway

import (
	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/sqltype"
)

// Size is about how many bytes the rows of an answer take in memory, for doors that keep
// answers.
func Size(a *discreet.Answer) (bytes int64) {
	const slice, interval = 24, 64
	for i, row := range a.Rows {
		bytes += slice
		for _, v := range row {
			bytes += sqltype.Size(v)
		}
		if i < len(a.Intervals) {
			bytes += slice + interval*int64(len(a.Intervals[i]))
		}
	}
	return bytes
}
