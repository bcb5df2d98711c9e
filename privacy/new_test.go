package privacy_test

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/eventtest"
	"github.com/discreet-dp/discreet/privacy"
)

// spoil writes other numbers and events into all that e shares with its copies.
func spoil(e privacy.Event) (written int) {
	v := reflect.ValueOf(e)
	for i := range v.NumField() {
		switch f := v.Field(i).Interface().(type) {
		case *big.Rat:
			f.SetInt64(-7)
			written++
		case []*big.Rat:
			for j, r := range f {
				r.SetInt64(-7)
				f[j] = nil
				written++
			}
		case privacy.Event:
			written += spoil(f)
		case []privacy.Event:
			for j, part := range f {
				spoil(part)
				f[j] = nil
				written++
			}
		}
	}
	return written
}

// What New returns nobody else can change, of every type of event.
func TestNewSharesNothing(t *testing.T) {
	written := 0
	for _, e := range eventtest.Every(t) {
		own, err := privacy.New(e)
		if err != nil || reflect.TypeOf(own) != reflect.TypeOf(e) {
			t.Errorf("%v: %v", e, err)
			continue
		}
		before := e.String()
		written += spoil(e)
		if own.String() != before || own.Validate() != nil {
			t.Errorf("%s became %v", before, own)
		}
	}
	if written < 30 {
		t.Errorf("%d numbers were spoiled: the test tests nothing", written)
	}
}

// Events that do not end print their type.
func TestEndlessEventsPrint(t *testing.T) {
	for _, n := range []int{1, 3} {
		endless := privacy.Sum{Events: make([]privacy.Event, n)}
		for i := range endless.Events {
			endless.Events[i] = endless
		}
		for want, e := range map[string]fmt.Stringer{"privacy.Sum of too many parts": endless, "privacy.Repeat of too many parts": privacy.Repeat{Count: 2, Event: endless}} {
			if got := e.String(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	deep := privacy.Event(privacy.Pure{Epsilon: eps("1")})
	for range 900 {
		deep = privacy.Repeat{Count: 1, Event: deep}
	}
	if got := fmt.Sprint(deep); !strings.HasPrefix(got, "1*(1*(") {
		t.Errorf("%.40q", got)
	}
}

// Events that are none, or do not end, are refused, and not walked.
func TestNewRefuses(t *testing.T) {
	endless := privacy.Sum{Events: make([]privacy.Event, 3)}
	for i := range endless.Events {
		endless.Events[i] = endless
	}
	deep := privacy.Event(privacy.Pure{Epsilon: eps("1")})
	for range 2000 {
		deep = privacy.Repeat{Count: 1, Event: deep}
	}
	type foreign struct{ privacy.Gaussian }
	for _, tc := range []struct {
		event privacy.Event
		want  string
	}{
		{nil, "missing"},
		{(*privacy.Gaussian)(nil), "no event of package privacy"},
		{&privacy.Pure{Epsilon: eps("1")}, "no event of package privacy"},
		{foreign{privacy.Gaussian{Variance: rat("1"), SensitivitySquared: rat("1")}}, "no event of package privacy"},
		{privacy.Repeat{Count: 2, Event: (*privacy.Pure)(nil)}, "no event of package privacy"},
		{endless, "endless"},
		{privacy.Parallel{Events: []privacy.Event{endless}}, "endless"},
		{deep, "too deeply"},
		{privacy.Gaussian{}, "missing or not positive"},
	} {
		if e, err := privacy.New(tc.event); err == nil || e != nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%T: %v", tc.event, err)
		}
		if err := privacy.Holds(tc.event, privacy.AddRemove); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%T: %v", tc.event, err)
		}
	}
}
