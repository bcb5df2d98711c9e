package serve

import (
	"context"
	"net/http"
	"testing"

	"github.com/discreet-dp/discreet/people"
)

// TestMayOperate: metrics are for an owner's token, and who signs in to them is somebody at an
// address, without a port, as at every other door.
func TestMayOperate(t *testing.T) {
	var from string
	may := mayOperate(func(_ context.Context, token, address string) (people.Account, error) {
		from = address
		switch token {
		case "olga's":
			return people.Account{Name: "olga", Role: people.Owner}, nil
		case "anna's":
			return people.Account{Name: "anna", Role: people.Analyst}, nil
		}
		return people.Account{}, people.ErrSignIn
	})
	for header, want := range map[string]bool{"Bearer olga's": true, "Bearer anna's": false, "Bearer x": false, "": false, "Basic olga's": false} {
		for remote, address := range map[string]string{"192.0.2.1:70": "192.0.2.1", "[2001:db8::1]:70": "2001:db8::1"} {
			from = ""
			got := may(&http.Request{RemoteAddr: remote, Header: http.Header{"Authorization": {header}}})
			if got != want || from != "" && from != address || want && from == "" {
				t.Errorf("%q from %s: %v, signed in from %q", header, remote, got, from)
			}
		}
	}
}
