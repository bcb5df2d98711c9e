package sparing_test

import (
	"testing"
	"time"

	"github.com/discreet-dp/discreet/serve/internal/sparing"
)

func TestLines(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := &sparing.Lines{Now: func() time.Time { return now }, Minute: 3}
	written, told := 0, 0
	for range 1000 {
		if may, left := l.Write(); may {
			written++
			told += left
		}
	}
	if written != 3 || told != 0 {
		t.Errorf("%d lines, %d told of", written, told)
	}
	now = now.Add(time.Minute)
	if may, left := l.Write(); !may || left != 997 {
		t.Errorf("a minute later: %v, %d left out", may, left)
	}
	now = now.Add(-time.Hour) // a clock that was set back silences nobody
	if may, left := l.Write(); !may || left != 0 {
		t.Errorf("an hour before: %v, %d left out", may, left)
	}
}
