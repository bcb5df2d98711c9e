package sensitivity_test

import (
	"sync"
	"testing"
)

// Who asks beside others is told the same: what is assumed of a function while it is read
// is seen by no one else (make race sees it if it is).
func TestAskedAtOnce(t *testing.T) {
	folders := []string{"./testdata/accept", "./testdata/attack/memory"}
	if !testing.Short() {
		folders = append(folders, "./testdata/fuzz")
	}
	all, p := load(t, folders...)
	told := make([]string, len(all))
	var asking sync.WaitGroup
	for i, s := range all {
		asking.Go(func() {
			r := s.check(p)
			told[i] = r.Inferred + reasons(r)
		})
	}
	asking.Wait()
	for i, s := range all {
		if r := s.check(p); told[i] != r.Inferred+reasons(r) {
			t.Errorf("%s: asked beside others: %s; alone: %s%s", s.Name, told[i], r.Inferred, reasons(r))
		}
	}
}
