package postgres

import (
	"context"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/sqltype"
)

// A Gateway decides what is answered; this package carries.
type Gateway interface {
	Query(ctx context.Context, who gateway.Asker, sql string, o gateway.Options) (*discreet.Answer, error)
	Explain(ctx context.Context, who gateway.Asker, sql string, o gateway.Options) (*discreet.Explanation, error)
	Describe(ctx context.Context, who gateway.Asker, sql string, types []sqltype.Type) (*discreet.Description, error)
}

// Accounts know whose passwords are right. Both methods may wait, and refuse, where an
// account or an address has failed too often.
type Accounts interface {
	// Verifier returns what an account's password is held against. For a name that nobody
	// has it returns one that no password meets: a stranger cannot tell.
	Verifier(ctx context.Context, name, address string) (scram.StoredCredentials, error)
	// SignIn takes down whether the client has proved to know the password, and returns the
	// account if it has and may sign in.
	SignIn(ctx context.Context, name, address string, proved bool) (people.Account, error)
}
