//go:build unix

package cluster

import "testing"

// Only a process of this machine is signalled: signals to 0 and below reach groups of processes.
func TestHoldersThatAreNotSeen(t *testing.T) {
	for _, pid := range []int32{0, -1, -4711} {
		if got, err := visible(pid); err == nil || got != 0 {
			t.Errorf("the holder %d is the process %d, %v", pid, got, err)
		}
	}
	if got, err := visible(4711); err != nil || got != 4711 {
		t.Errorf("the process 4711 is %d, %v", got, err)
	}
}
