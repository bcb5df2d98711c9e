package exact

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/source"
)

// wants reads the verdict that a program of the gallery wants.
func wants(u *source.Unit) string {
	for line := range strings.Lines(u.Decl.Doc.Text()) {
		if w, ok := strings.CutPrefix(line, "want: "); ok {
			return strings.Fields(w)[0]
		}
	}
	return ""
}

func gallery(t *testing.T) []*source.Unit {
	t.Helper()
	packages, err := source.Load(context.Background(), "../../..", "./verify/testdata/wrong", "./verify/testdata/lyu", "./verify/testdata/right", "./verify/testdata/more")
	if err != nil {
		t.Fatal(err)
	}
	var units []*source.Unit
	for _, p := range packages {
		units = append(units, p.Units...)
	}
	return units
}

// What the gallery calls wrong is refuted, and nothing else is.
func TestGallery(t *testing.T) {
	for _, u := range gallery(t) {
		t.Run(u.Name, func(t *testing.T) {
			if u.Function == nil || u.Claim == nil || u.Claim.Cost == nil {
				t.Skipf("refused: %v", u.Refusals)
			}
			o := Search{Workers: 2}
			want := wants(u) == "refuted"
			if !want {
				o.Budget = 600 // TestRightPrograms looks longer at some
			}
			counter, tried, err := Refute(context.Background(), u.Function, u.Claim, nil, o)
			if err != nil {
				t.Fatal(err)
			}
			if counter == nil {
				t.Log(tried)
			} else {
				t.Logf("%v | %v | %s | %v %v forced %.4f claimed %.4f fails %v", show(counter.First), show(counter.Second), counter.Event, counter.P, counter.Q, counter.Forced, counter.Claimed, counter.Fails)
			}
			if want != (counter != nil) {
				t.Errorf("refuted %v, want %v", counter != nil, want)
			}
		})
	}
}
