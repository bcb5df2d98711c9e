package accountant

import (
	"flag"
	"os"
	"testing"
)

// Properties ask all accountants several times each: fewer draws than usual, unless
// -rapid.checks says otherwise.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "8"); err != nil {
		panic(err)
	}
	flag.Parse()
	os.Exit(m.Run())
}
