package clustertest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// Memory returns what a process has in memory that it can write to, as a debugger reads it. It
// skips the test, aloud, where that cannot be read.
func Memory(t testing.TB, pid int) (all []byte) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("skip: memory is read by /proc, which Linux has")
	}
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Skipf("skip: the memory of other processes may not be read here: %v", err)
	}
	defer memory.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to int64
		var rights string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights); err != nil || !strings.HasPrefix(rights, "rw") {
			continue
		}
		// What was never touched cannot be read, or is zero.
		text, _ := io.ReadAll(io.NewSectionReader(memory, from, to-from))
		all = append(all, text...)
	}
	return all
}
