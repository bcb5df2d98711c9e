package postgres

import (
	"context"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
)

// A Gateway decides what is answered; this package carries.
type Gateway interface {
	Query(ctx context.Context, who gateway.Asker, sql string, o gateway.Options) (*discreet.Answer, error)
	Explain(ctx context.Context, who gateway.Asker, sql string, o gateway.Options) (*discreet.Explanation, error)
	Describe(ctx context.Context, who gateway.Asker, sql string, types []discreet.ParameterType, o gateway.Options) (*discreet.Description, error)

	// Look waits until a question about the catalog may be answered. Who may look calls leave.
	Look(ctx context.Context, who gateway.Asker) (leave func(), err error)
	// Catalog is what is declared, as far as it exists for the asker.
	Catalog(who gateway.Asker) *catalog.Catalog
	Budget(ctx context.Context, who gateway.Asker) ([]ledger.Balance, error)
	History(ctx context.Context, who gateway.Asker, s ledger.Selection) ([]ledger.Entry, error)
}

// Accounts know whose passwords are right. They may wait, and refuse, where an account or an
// address has failed too often.
type Accounts interface {
	// Scram begins a conversation with somebody who says that he or she is an account. One
	// that there is not gets a conversation like any other: a stranger cannot tell. binding
	// is the connection's, or nil.
	Scram(ctx context.Context, name, address string, binding *scram.ChannelBinding) (Conversation, error)
}

// A knower is implemented by Accounts that know which accounts have signed in from an address
// before. It tells strangers nothing of that.
type knower interface {
	Known(name, address string) bool
}

// A Conversation is the server's side of SCRAM-SHA-256.
type Conversation interface {
	Step(challenge string) (answer string, err error)
	// Account returns who has signed in; an error if nobody has. It is called once, at the
	// end, and also of a conversation that was broken off.
	Account() (people.Account, error)
}

// People are the accounts of package people as the door wants them.
type People struct {
	*people.Accounts
	// Note is told of every sign-in and its end, if it is not nil.
	Note func(name, address string, err error)
}

// Scram begins a conversation.
func (p People) Scram(ctx context.Context, name, address string, binding *scram.ChannelBinding) (Conversation, error) {
	c, err := p.Accounts.Scram(ctx, name, address, binding)
	if err != nil {
		return nil, err
	}
	return noted{c, func(err error) {
		if p.Note != nil {
			p.Note(name, address, err)
		}
	}}, nil
}

type noted struct {
	*people.Conversation
	note func(error)
}

// Account returns who has signed in.
func (n noted) Account() (people.Account, error) {
	a, err := n.Conversation.Account()
	n.note(err)
	return a, err
}
