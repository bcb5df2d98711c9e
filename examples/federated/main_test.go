package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// What each line prints is random by a little; that it learns is not.
func TestLearns(t *testing.T) {
	var out strings.Builder
	if err := run(context.Background(), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 9 {
		t.Fatalf("printed\n%s", &out)
	}
	for _, line := range lines {
		var share float64
		if _, err := fmt.Sscanf(line[27:], "%f", &share); err != nil || share < 0.85 {
			t.Errorf("%s: %v", line, err)
		}
	}
}
