package exact

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/verify/internal/program"
)

// A code is a function as straight instructions and jumps, so that a run is a
// place in it and the values of variables, which fork by a copy.
type code struct {
	function *program.Function
	steps    []step
	index    map[*program.Variable]int
	// growing are slices that are only appended to and then returned, and at which
	// place: an event is held against their elements as they come.
	growing map[*program.Variable]int
	// opened is set where some path showed a number of which nothing is known.
	opened atomic.Bool
	// functions are values that were computed before, of functionOf: *form. Of few inputs,
	// and of what is required of them, the same are asked for again and again.
	functions sync.Map
}

// A step is a statement; or where its statement is nil, a jump to target, of a
// condition only where it is false.
type step struct {
	statement program.Statement
	cond      program.Expression
	target    int
	at        program.Statement // the statement that a jump belongs to
	fixed     bool              // a draw of which nothing in the parameter is ever written
}

func compile(f *program.Function) (*code, error) {
	c := &code{function: f, index: map[*program.Variable]int{}}
	for _, v := range f.Inputs {
		c.declare(v)
	}
	err := c.list(f.Body, map[*program.Loop]*jumps{})
	c.growing = growing(f.Body)
	c.fix()
	return c, err
}

// fix finds the draws of which the parameter is the same wherever they are made.
func (c *code) fix() {
	changes := map[*program.Variable]bool{}
	for _, s := range c.steps {
		changes[program.Written(s.statement)] = true
	}
	for i, s := range c.steps {
		d, ok := s.statement.(*program.Draw)
		if !ok {
			continue
		}
		c.steps[i].fixed = true
		program.Variables(d.Parameter, func(v *program.Variable) {
			if changes[v] {
				c.steps[i].fixed = false
			}
		})
	}
}

// growing finds the slices that every return shows at the same place, that nothing
// but append changes, and that are made, if at all, before anything is appended: by
// a statement of the function's own list, so that no loop makes them anew.
func growing(body []program.Statement) map[*program.Variable]int {
	found := map[*program.Variable]int{}
	bad := map[*program.Variable]bool{}
	appended := map[*program.Variable]bool{}
	returns := 0
	seen := map[*program.Variable]int{}
	var visit func(list []program.Statement, top bool)
	visit = func(list []program.Statement, top bool) {
		for _, s := range list {
			switch s := pointed(s).(type) {
			case *program.Assign:
				bad[s.To] = true
			case *program.Store:
				bad[s.To] = true
			case *program.Draw:
				bad[s.To] = true
			case *program.Make:
				n, ok := s.Length.(program.Number)
				if !top || appended[s.To] || !ok || n.Value.Sign() != 0 {
					bad[s.To] = true
				}
			case *program.Append:
				appended[s.To] = true
			case *program.If:
				visit(s.Then, false)
				visit(s.Else, false)
			case *program.Loop:
				visit(s.Body, false)
				visit(s.Post, false)
			case *program.Return:
				returns++
				for i, e := range s.Values {
					if ref, ok := e.(program.Ref); ok && ref.Var.Slice && !ref.Var.Input {
						if at, again := found[ref.Var]; again && at != i {
							bad[ref.Var] = true
						}
						found[ref.Var] = i
						seen[ref.Var]++
					}
				}
			}
		}
	}
	visit(body, true)
	for v := range found {
		if bad[v] || seen[v] != returns {
			delete(found, v)
		}
	}
	return found
}

// jumps are the steps whose targets wait for the end of a loop or of its body.
type jumps struct{ breaks, continues []int }

func (c *code) declare(v *program.Variable) {
	if _, ok := c.index[v]; !ok {
		c.index[v] = len(c.index)
	}
}

func (c *code) emit(s step) int {
	c.steps = append(c.steps, s)
	return len(c.steps) - 1
}

func (c *code) land(at ...int) {
	for _, i := range at {
		c.steps[i].target = len(c.steps)
	}
}

func (c *code) list(body []program.Statement, open map[*program.Loop]*jumps) error {
	for _, s := range body {
		if err := c.statement(s, open); err != nil {
			return err
		}
	}
	return nil
}

func (c *code) statement(s program.Statement, open map[*program.Loop]*jumps) error {
	switch s := pointed(s).(type) {
	case *program.If:
		no := c.emit(step{cond: s.Cond, at: s})
		if err := c.list(s.Then, open); err != nil {
			return err
		}
		if len(s.Else) == 0 {
			c.land(no)
			return nil
		}
		end := c.emit(step{at: s})
		c.land(no)
		if err := c.list(s.Else, open); err != nil {
			return err
		}
		c.land(end)
	case *program.Loop:
		head := len(c.steps)
		no := c.emit(step{cond: s.Cond, at: s})
		mine := &jumps{}
		open[s] = mine
		if err := c.list(s.Body, open); err != nil {
			return err
		}
		c.land(mine.continues...)
		if err := c.list(s.Post, open); err != nil {
			return err
		}
		delete(open, s)
		c.emit(step{target: head, at: s})
		c.land(no)
		c.land(mine.breaks...)
	case *program.Break:
		loop := open[s.Of]
		if loop == nil {
			return fmt.Errorf("%w: break outside its loop", ErrUnsupported)
		}
		loop.breaks = append(loop.breaks, c.emit(step{at: s}))
	case *program.Continue:
		loop := open[s.Of]
		if loop == nil {
			return fmt.Errorf("%w: continue outside its loop", ErrUnsupported)
		}
		loop.continues = append(loop.continues, c.emit(step{at: s}))
	case *program.Assign:
		c.declare(s.To)
		c.emit(step{statement: s, at: s})
	case *program.Make:
		c.declare(s.To)
		c.emit(step{statement: s, at: s})
	case *program.Append:
		c.declare(s.To)
		c.emit(step{statement: s, at: s})
	case *program.Store:
		c.declare(s.To)
		c.emit(step{statement: s, at: s})
	case *program.Draw:
		c.declare(s.To)
		c.emit(step{statement: s, at: s})
	case *program.Output, *program.Return:
		c.emit(step{statement: s, at: s})
	default:
		return fmt.Errorf("%w: statement %T", ErrUnsupported, s)
	}
	return nil
}

// pointed gives statements one form: a list may hold them, or pointers to them.
func pointed(s program.Statement) program.Statement {
	switch s := s.(type) {
	case program.Assign:
		return &s
	case program.Make:
		return &s
	case program.Append:
		return &s
	case program.Store:
		return &s
	case program.Draw:
		return &s
	case program.If:
		return &s
	case program.Loop:
		return &s
	case program.Break:
		return &s
	case program.Continue:
		return &s
	case program.Output:
		return &s
	case program.Return:
		return &s
	}
	return s
}
