package places_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/serve/places"
)

func last(n int) int { return n - 1 }

// Whoever has fewer gets a place of who has most: an idle one.
func TestShares(t *testing.T) {
	p := places.New(places.Options{Most: 10, Chance: last})
	var mu sync.Mutex
	out := map[string]int{}
	var gone sync.WaitGroup
	take := func(key string) *places.Place {
		return p.Take(key, func() {
			mu.Lock()
			out[key]++
			mu.Unlock()
			gone.Done()
		})
	}
	for i := range 10 {
		one := take("greedy")
		if one == nil {
			t.Fatalf("place %d is not to be had", i)
		}
		one.Busy(i != 4)
	}
	if take("greedy") != nil {
		t.Error("an eleventh place")
	}
	gone.Add(4)
	for range 4 {
		if take("anna") == nil {
			t.Error("anna gets none")
		}
	}
	gone.Add(2)
	for range 2 {
		if take("olga") == nil {
			t.Error("olga gets none")
		}
	}
	gone.Wait()
	if out["greedy"] != 6 || len(out) != 1 || p.Taken() != 10 { // four each and two
		t.Errorf("put out: %v; taken %d", out, p.Taken())
	}
}

// An idle one goes before those that are at work.
func TestIdleGoes(t *testing.T) {
	p := places.New(places.Options{Most: 5, Chance: last})
	out := make(chan int, 1)
	for i := range 5 {
		p.Take("greedy", func() { out <- i }).Busy(i != 2)
	}
	p.Take("anna", func() {})
	if i := <-out; i != 2 {
		t.Errorf("number %d went", i)
	}
}

// Where all have the same, who comes last gets none, or one goes by chance.
func TestEqual(t *testing.T) {
	for _, yield := range []bool{false, true} {
		p := places.New(places.Options{Most: 3, Yield: yield, Chance: last})
		out := make(chan string, 10)
		for i := range 3 {
			p.Take(fmt.Sprint(i), func() { out <- fmt.Sprint(i) })
		}
		one := p.Take("late", func() {})
		if (one != nil) != yield || p.Taken() != 3 {
			t.Errorf("yield %v: %v, %d taken", yield, one, p.Taken())
		}
		if yield {
			<-out
			one.Leave()
			one.Leave()
			if p.Taken() != 2 {
				t.Errorf("left: %d taken", p.Taken())
			}
		}
	}
}

// A place that counts for somebody else is no longer of who took it.
func TestCount(t *testing.T) {
	p := places.New(places.Options{Most: 4, Chance: last})
	out := make(chan string, 1)
	for i := range 4 {
		one := p.Take("192.0.2.1", func() { out <- fmt.Sprint(i) })
		if i == 3 {
			places.Count(places.In(t.Context(), one), "account anna")
		}
	}
	if p.Take("198.51.100.1", func() {}) == nil {
		t.Fatal("no place")
	}
	if got := <-out; got == "3" {
		t.Error("anna lost her place")
	}
}
