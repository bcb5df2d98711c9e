package cluster

import (
	"io"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
)

// TestDemoLeavesNoFolder: the folder that the demo makes for itself goes with it, whatever
// happened. Keys and books were in it.
func TestDemoLeavesNoFolder(t *testing.T) {
	passing := t.TempDir()
	t.Setenv("TMPDIR", passing)
	if _, err := (runner{}).show(t.Context(), terminal.New(nil, io.Discard, io.Discard), nil, ""); err == nil {
		t.Error("a cluster without a profile was made")
	}
	left, err := os.ReadDir(passing)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		t.Errorf("%s is left", f.Name())
	}
}
