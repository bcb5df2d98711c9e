package places_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/serve/places"
)

// An account holds no more than is left, and whoever holds nothing finds room.
func TestRoomIsShared(t *testing.T) {
	r := places.NewRoom(1000) // 125 of them spared
	holders := map[string]*int{}
	for _, step := range []struct {
		holder, account string
		bytes           int64
		want            bool
	}{
		{"a1", "anna", 400, true},
		{"a2", "anna", 101, false}, // 501 of hers, 499 left
		{"a2", "anna", 100, true},
		{"a1", "anna", 401, false},
		{"b1", "ben", 376, false},
		{"b1", "ben", 325, true}, // a first one
		{"b1", "ben", 326, false},
		{"c1", "cleo", 50, true},
		{"d1", "dora", 2, false}, // of what is spared
		{"d1", "dora", 1, true},
		{"a1", "anna", 300, true},
		{"d1", "dora", 99, true},
	} {
		if holders[step.holder] == nil {
			holders[step.holder] = new(int)
		}
		if got := r.Take(holders[step.holder], step.account, step.bytes); got != step.want {
			t.Errorf("%+v: %v, of all %d", step, got, r.Held())
		}
	}
}

// TestHoarders: accounts that work together and hold all that they can leave small answers to
// others, to as many as hold a small one each at once.
func TestHoarders(t *testing.T) {
	const most = 512 << 20
	r := places.NewRoom(most)
	for i := range 40 {
		account := fmt.Sprint("hoarder", i%20)
		for bytes := int64(most); bytes > 0; bytes /= 2 {
			r.Take(new(int), account, bytes)
		}
	}
	if held := r.Held(); held > most*7/8+20<<20 || held < most*3/4 {
		t.Errorf("hoarders hold %d of %d bytes", held, most)
	}
	for i := range 44 {
		if !r.Take(new(int), fmt.Sprint("other", i), 1<<20) {
			t.Fatalf("other %d finds no room for a small answer", i)
		}
	}
	if r.Take(new(int), "other 0", 8<<20) {
		t.Error("a large answer found room that is spared for small ones")
	}
}

// The bytes of all holders never exceed the bound, and none are left when all have ended.
func TestRoomAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := places.NewRoom(1000)
		var holders [6]int
		name := func(i int) string { return fmt.Sprint("account", i/2) }
		held := map[int]int64{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			i, bytes := rapid.IntRange(0, 5).Draw(t, "holder"), rapid.Int64Range(0, 1200).Draw(t, "bytes")
			if rapid.Bool().Draw(t, "keeps") {
				r.Keep(&holders[i], name(i), bytes)
				held[i] = min(held[i], bytes)
			} else if r.Take(&holders[i], name(i), bytes) {
				held[i] = bytes
			}
			sum := int64(0)
			for _, n := range held {
				sum += n
			}
			if sum != r.Held() || sum > 1000 {
				t.Fatalf("%d bytes are held, and %d counted", sum, r.Held())
			}
		}
		for i := range holders {
			r.Keep(&holders[i], name(i), 0)
		}
		if r.Held() != 0 {
			t.Fatalf("%d bytes are left", r.Held())
		}
	})
}
