package gateway

import (
	"errors"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/people/journal"
)

// note puts what an account did into the journal.
func (g *Gateway) note(who Asker, kind, detail string) {
	if g.config.Journal != nil {
		g.config.Journal.Note(journal.Event{Time: g.config.Now(), Kind: kind, Account: who.Account.Name, Door: who.Door, Address: who.Address, Detail: detail})
	}
}

// refused notes a statement that was not answered: by which refusal, or in which kind.
func (g *Gateway) refused(who Asker, err error) {
	var r *discreet.Refusal
	switch {
	case err == nil:
	case errors.As(err, &r):
		g.note(who, "refused", r.Code+": "+r.Message)
	default:
		g.note(who, "refused", Of(err).String())
	}
}

// SignedIn notes an account that has signed in at a door, or somebody who has not.
func (g *Gateway) SignedIn(name, door, address string, err error) {
	if g.config.Journal == nil {
		return
	}
	e := journal.Event{Time: g.config.Now(), Kind: "sign-in", Account: name, Door: door, Address: address}
	if err != nil {
		e.Kind, e.Stranger = "sign-in failed", true
	}
	g.config.Journal.Note(e)
}
