package diagnostic

import "strings"

// Cause returns the innermost reason of an error, without the steps that failed because
// of it: of "calibrate noise: bad parameter: the scale is too long", where "bad
// parameter" is a sentinel, "the scale is too long". A person reads the reason once; who
// debugs has the error itself.
func Cause(err error) string {
	for {
		inner := unwrap(err)
		if inner == nil {
			return err.Error()
		}
		if reason, ok := strings.CutPrefix(err.Error(), inner.Error()+": "); ok {
			return reason
		}
		err = inner
	}
}

// unwrap returns the last error that an error wraps, which is the more particular one
// where the first is a sentinel.
func unwrap(err error) error {
	switch e := err.(type) { //nolint:errorlint // it takes one layer off
	case interface{ Unwrap() error }:
		return e.Unwrap()
	case interface{ Unwrap() []error }:
		if all := e.Unwrap(); len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return nil
}
