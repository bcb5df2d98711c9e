// Package sensitivity infers how far the results of Go functions move with their
// inputs, and what functions that use noise cost, from their source alone.
//
// It reads type-checked syntax as an abstract interpreter: each number carries the
// private inputs that it depends on, with a bound for each on how far it moves when
// that input moves by 1, as an expression over public parameters; slices carry them
// in the l1, l2 and linf norms, and multisets in the symmetric difference (Fuzz: Reed
// and Pierce 2010; DFuzz: Gaboardi et al. 2013; Solo: Abuah, Darais and Near 2022).
// What noise is added to is public from there on, and paid for: the payments are a
// plan of events, as in PINQ (McSherry 2009) and Duet (Near et al. 2019).
//
// Every function that is read keeps a discipline (discipline.go): what a slice, a map or
// an array leads to is written to by one name alone, so that each is the value that it
// holds, and operands may be read in any order. What does not keep it is refused before
// it is read.
//
// It guarantees that a bound that it gives holds, over the real numbers, for every
// two runs that end; and that a cost that it accepts holds by theorems that stand at
// their place. It never refutes: what it does not see, it refuses with the place and
// the nearest thing that it accepts.
//
// Outside lie the rounding of floats, infinities and NaN, overflow of 64 bits, how
// long a run takes, functions that are given as parameters and are not pure, and the order
// of a range over a map, which two runs are taken to share where the map has the same keys.
package sensitivity
