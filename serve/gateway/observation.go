package gateway

import "time"

// An Observation is what an operator may know of a statement that has ended: nothing of
// what was asked, by whom, or what was answered. How long it took tells of data.
type Observation struct {
	Door   string
	Reused bool
	Err    error
	Took   time.Duration
}

// Outcome is a word for how it ended.
func (o Observation) Outcome() string {
	switch {
	case o.Err != nil:
		return Of(o.Err).String()
	case o.Reused:
		return "reused"
	}
	return "answered"
}

// A Load is how many statements run and wait.
type Load struct{ Running, Waiting int }

// Load returns how many statements run and wait now.
func (g *Gateway) Load() Load {
	a := g.running
	a.mu.Lock()
	defer a.mu.Unlock()
	return Load{g.config.Concurrency - a.free, g.config.Queue - a.room}
}
