package diagnostic

import "fmt"

// Count says how many: "1 row", "2 rows".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
