package process

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Bounds of what the leader does at once.
const (
	maxUpload  = 32 << 20 // bytes of a request
	maxReports = 1000     // of a request
	maxJob     = 200      // contributions
	maxJobSize = 16 << 20 // bytes of their shares
	patience   = 10 * time.Second
	pause      = 250 * time.Millisecond
	longest    = 8 * time.Second // that a job which failed waits
)

// lead does the leader's jobs for a task, until the process ends.
func (a *aggregator) lead(t *work) {
	wait := pause
	for {
		more := false
		err := t.locked(a.ctx, func() (err error) {
			more, err = a.round(t, "")
			return err
		})
		if err != nil && a.ctx.Err() == nil {
			a.Log.Warn("a job waits", "task", t.Name, "cause", err.Error())
		}
		switch {
		case err != nil: // a helper is away: its part is asked again, with the same bytes
			select {
			case <-a.ctx.Done():
				return
			case <-time.After(wait):
			}
			wait = min(2*wait, longest)
			continue
		case !more:
			select {
			case <-a.ctx.Done():
				return
			case <-t.wake:
			}
		}
		wait = pause
	}
}

func (t *work) helpers() []string { return t.Aggregators[1:] }

// tell asks a helper, and compares what it has stored with what it had.
func (a *aggregator) tell(t *work, helper, method, path string, message any, answer interface{ had() int64 }) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, patience)
	defer cancel()
	if err := a.Ask(ctx, helper, method, "/tasks/"+t.hash+path, data, answer); err != nil {
		return err
	}
	return t.witness(a.ctx, helper, answer.had())
}

// introduce says a task to its helpers.
func (a *aggregator) introduce(t *work) error {
	data, err := json.Marshal(taskMessage{t.data, t.key[:]})
	if err != nil {
		return err
	}
	for _, helper := range t.helpers() {
		ctx, cancel := context.WithTimeout(a.ctx, patience)
		err := a.Ask(ctx, helper, http.MethodPut, "/tasks/"+t.hash, data, nil)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}
