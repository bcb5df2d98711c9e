package exact

import (
	"context"
	"errors"
	"hash/crc32"
	"os"
	"regexp"
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
	packages, err := source.Load(context.Background(), "../../..", "./verify/testdata/wrong", "./verify/testdata/lyu", "./verify/testdata/right", "./verify/testdata/more",
		"./verify/testdata/fresh", "./verify/testdata/delta")
	if err != nil {
		t.Fatal(err)
	}
	var units []*source.Unit
	for _, p := range packages {
		units = append(units, p.Units...)
	}
	return units
}

var longNumber = regexp.MustCompile(`[0-9]{12}`)

// sampled says whether a program is run where one in share is, chosen by its name: with
// DISCREET_SOAK all are.
func sampled(name string, share uint32) bool {
	return os.Getenv("DISCREET_SOAK") != "" || crc32.ChecksumIEEE([]byte(name))%share == 0
}

// What the gallery calls wrong is refuted, and nothing else is. A tenth of what is wrong is run, and a
// 24th of what is right, where a search looks at everything that it may; with DISCREET_SOAK all is.
func TestGallery(t *testing.T) {
	// Of the first a half-plane would tell, which is no product of intervals; of the others
	// inputs that a search for proofs has found.
	beyond := map[string]bool{"GaussianTwice": true, "MedianBothSides": true, "GridRows": true, "HitsOneMore": true, "WorkingAgeWidth": true}
	for _, u := range gallery(t) {
		t.Run(u.Name, func(t *testing.T) {
			if u.Function == nil && wants(u) == "proved" {
				return // by rules alone
			}
			if u.Function == nil || u.Claim == nil || u.Claim.Cost == nil {
				t.Fatalf("refused: %v", u.Refusals)
			}
			if beyond[u.Name] {
				if counter, _, err := Refute(context.Background(), u.Function, u.Claim, nil, Search{Budget: 200}); err != nil || counter != nil {
					t.Errorf("it is evaluated after all: %v, %v", counter, err)
				}
				return
			}
			o := Search{Workers: 2}
			want := wants(u) == "refuted"
			if want && !sampled(u.Name, 10) || !want && !sampled(u.Name, 24) {
				return
			}
			open := wants(u) == "unknown" // to proofs; some of them are wrong
			if !want {
				o.Budget = 200 // TestRightPrograms looks longer at some
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
			if counter != nil && longNumber.MatchString(show(counter.First)+show(counter.Second)+counter.Event) {
				t.Error("nobody can read these numbers")
			}
			if want != (counter != nil) && !open {
				t.Errorf("refuted %v, want %v", counter != nil, want)
			}
		})
	}
}

// Right programs, and those that need all of what they claim, are not refuted however
// the search goes: what it reports is decided by intervals alone.
func TestRightPrograms(t *testing.T) {
	exact4 := lyu4
	exact4.cost = mul(mul(num("1/4"), add(num("1"), nTimes("6"))), ref(epsVar))
	for _, s := range []svt{svtRight, exact4, svtUp} {
		f, c := s.build()
		counter, tried, err := Refute(context.Background(), f, c, nil, Search{Workers: 2, Budget: 1200})
		if err != nil || counter != nil {
			t.Errorf("%s: %v %v", s.name, counter, err)
		}
		t.Log(s.name, tried)
	}
}

// A claim of one part in a hundred less than the bound that Lyu, Su and Li prove for
// their Algorithm 4 is refuted: the search goes far out.
func TestThinMargin(t *testing.T) {
	near := lyu4
	near.cost = mul(mul(num("99/400"), add(num("1"), nTimes("6"))), ref(epsVar))
	f, c := near.build()
	counter, tried, err := Refute(context.Background(), f, c, nil, Search{Workers: 2})
	if err != nil || counter == nil {
		t.Fatalf("%v %v", tried, err)
	}
	t.Logf("%v | %v | %s | forced %.4f claimed %.4f", show(counter.First), show(counter.Second), counter.Event, counter.Forced, counter.Claimed)
}

// A search ends with its context, and its result does not depend on its workers.
func TestSearchIsDeterministic(t *testing.T) {
	f, c := lyu3.build()
	var first string
	for _, workers := range []int{1, 3} {
		counter, _, err := Refute(context.Background(), f, c, nil, Search{Workers: workers})
		if err != nil || counter == nil {
			t.Fatal(counter, err)
		}
		text := show(counter.First) + show(counter.Second) + counter.Event
		if first == "" {
			first = text
		} else if text != first {
			t.Errorf("%s with %d workers, %s with one", text, workers, first)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := Refute(ctx, f, c, nil, Search{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
