//go:build !cgo

package oracle

import "testing"

func TestSameTrees(t *testing.T) {
	t.Skip("skip: missing tool: a C compiler, for PostgreSQL's own parser")
}
