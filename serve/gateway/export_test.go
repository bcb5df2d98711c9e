package gateway

import "time"

// Left is how long a statement waits that came at one time, at another.
func Left(came, now time.Time, step time.Duration) time.Duration {
	return pace{now: func() time.Time { return now }, came: came, step: step}.left()
}
