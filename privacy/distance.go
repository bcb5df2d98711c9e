package privacy

import "math/big"

// Distance is how far apart neighbours under n lie, in units of the sensitivity under
// AddRemove.
//
// To replace a unit's rows is to remove them and to add others. A query's value moves by at
// most its sensitivity Δ in each step, so by at most 2Δ in both: the triangle inequality,
// in L1 as in L2 (Kifer and Machanavajjhala 2011, "No Free Lunch in Data Privacy", has the
// two relations). A unit whose rows move from one group of a histogram to another, each
// with its own noise, shows that less than 2Δ would be wrong in L1; in one sum, values of
// either sign. A special record counts as nothing in every sum, so that putting it in a
// unit's place is to remove that unit.
func Distance(n Neighbours) *big.Rat {
	if n == ReplaceOne {
		return big.NewRat(2, 1)
	}
	return big.NewRat(1, 1)
}

// AtDistance returns e for neighbours that lie times as far apart as those that its
// sensitivities speak of. Those of events within e, and guarantees, stay.
func AtDistance(e Event, times *big.Rat) Event {
	farther := func(r *big.Rat, degree int) *big.Rat {
		if r == nil {
			return nil // Validate refuses it
		}
		for range degree {
			r = new(big.Rat).Mul(r, times)
		}
		return r
	}
	if moved := rebuilt(e, farther, func(part Event) Event { return part }); moved != nil {
		return moved
	}
	return e
}

// OfPlan returns an event of a plan, whose sensitivities are those of AddRemove, as the
// event that it is under n, whose sensitivities are those of n. Guarantees stay: they are
// said of the relation in force, and so are events that state theirs.
func OfPlan(e Event, n Neighbours) Event {
	if _, states := e.(Under); states || n != ReplaceOne {
		return e
	}
	same := func(r *big.Rat, _ int) *big.Rat { return r }
	if inner := rebuilt(e, same, func(part Event) Event { return OfPlan(part, n) }); inner != nil {
		e = inner
	}
	return AtDistance(e, Distance(n))
}
