package diagnostic

import "fmt"

// A List is several refusals at once. With errors.As a *Diagnostic is the first of them.
type List []*Diagnostic

// Error returns the first refusal and how many there are.
func (l List) Error() string {
	if len(l) == 1 {
		return l[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", l[0].Error(), len(l)-1)
}

// Unwrap returns the refusals.
func (l List) Unwrap() []error {
	all := make([]error, len(l))
	for i, d := range l {
		all[i] = d
	}
	return all
}
