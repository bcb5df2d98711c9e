package people

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// ErrSignIn: the name has no account, the password or the token is wrong, or the account
// is disabled or has expired. Which of them is not said.
var ErrSignIn = errors.New("the name or the password is wrong")

// A verifier is what checks a password: the account's, or, where nobody can sign in, one
// that no password fits and that looks the same.
type verifier struct {
	scram.StoredCredentials
	profile *profile // nil: nobody can sign in
	seen    int64
}

// mac is a keyed hash of parts, each with its length.
func (a *Accounts) mac(parts ...string) []byte {
	h := hmac.New(sha256.New, a.secret)
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// factors are the salt and the number of iterations of a name. The salt is a keyed hash of
// it, for names with an account and for others: nothing tells them apart, and no salt
// changes when an account is made or gets another password.
func (a *Accounts) factors(name string) scram.KeyFactors {
	return scram.KeyFactors{Salt: string(a.mac("salt", name)[:16]), Iters: a.iterations}
}

// digest is what the chain has of a verifier. It is keyed: who sees the chain and not the
// file cannot try passwords on it.
func (a *Accounts) digest(name string, c scram.StoredCredentials) []byte {
	return a.mac("password", name, c.Salt, fmt.Sprint(c.Iters), string(c.StoredKey), string(c.ServerKey))
}

// verifier returns what checks a name's password.
func (a *Accounts) verifier(ctx context.Context, name string) (v verifier, err error) {
	r, err := a.refresh(ctx)
	if err != nil {
		return v, err
	}
	v.seen = r.last
	v.KeyFactors = a.factors(name)
	v.StoredKey, v.ServerKey = a.mac("stored", name), a.mac("server", name)
	nobody := &profile{disabled: true}
	p := r.accounts[name]
	if p == nil {
		p = nobody
	}
	rows, err := a.db.QueryContext(ctx, "SELECT salt, iterations, stored, server FROM passwords WHERE account = ?", name)
	if err != nil {
		return v, err
	}
	defer rows.Close()
	for rows.Next() {
		var c scram.StoredCredentials
		var salt []byte
		if err := rows.Scan(&salt, &c.Iters, &c.StoredKey, &c.ServerKey); err != nil {
			return v, err
		}
		c.Salt = string(salt)
		if hmac.Equal(a.digest(name, c), p.password) && !p.closed(a.now()) {
			v.StoredCredentials, v.profile = c, p
		}
	}
	return v, rows.Err()
}

// derive hashes a password, which is prepared as PostgreSQL's clients prepare it: by
// SASLprep, or not at all where SASLprep refuses it.
func derive(password string, f scram.KeyFactors) (scram.StoredCredentials, error) {
	c, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		if c, err = scram.SHA256.NewClientUnprepped("", password, ""); err != nil {
			return scram.StoredCredentials{}, err
		}
	}
	return c.GetStoredCredentialsWithError(f)
}

// hash derives, a few at a time: hashing is dear, and strangers can ask for it.
func (a *Accounts) hash(ctx context.Context, password string, f scram.KeyFactors) (scram.StoredCredentials, error) {
	select {
	case a.deriving <- struct{}{}:
		defer func() { <-a.deriving }()
	case <-ctx.Done():
		return scram.StoredCredentials{}, ctx.Err()
	}
	return a.derive(password, f)
}

// account is somebody who has signed in.
func (a *Accounts) account(p *profile, seen int64, token string) Account {
	return Account{Name: p.name, Role: p.role, of: a, profile: p, seen: seen, since: seen, token: token}
}

// SignIn signs in by a password, from an address. It refuses with ErrSignIn, or ErrTooMany
// where the address has failed too often.
func (a *Accounts) SignIn(ctx context.Context, name, password, address string) (_ Account, err error) {
	try, err := a.attempt(ctx, name, address)
	if err != nil {
		return Account{}, err
	}
	v, err := a.verifier(ctx, name)
	if err != nil {
		return Account{}, fmt.Errorf("sign in: %w", err)
	}
	if len(password) > maxPassword {
		password = "" // which no account has
	}
	got, err := a.hash(ctx, password, v.KeyFactors)
	if err != nil {
		return Account{}, fmt.Errorf("sign in: %w", err)
	}
	if same := hmac.Equal(got.StoredKey, v.StoredKey); !same || v.profile == nil {
		try.failed()
		return Account{}, ErrSignIn
	}
	try.succeeded(ctx)
	return a.account(v.profile, v.seen, ""), nil
}

// A Conversation signs somebody in by SCRAM-SHA-256 (RFC 5802 and 7677).
type Conversation struct {
	*scram.ServerConversation
	of       *Accounts
	verifier verifier
	try      *attempt
}

// Scram begins a conversation about the name of a session's start; the name that the
// client's first message has is not looked at, as PostgreSQL does not. binding is the
// connection's, or nil where it has none.
func (a *Accounts) Scram(ctx context.Context, name, address string, binding *scram.ChannelBinding) (*Conversation, error) {
	try, err := a.attempt(ctx, name, address)
	if err != nil {
		return nil, err
	}
	v, err := a.verifier(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	nonce := make([]byte, 24)
	if _, err := entropy.New().Read(nonce); err != nil {
		return nil, err
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return v.StoredCredentials, nil })
	if err != nil {
		return nil, err
	}
	server.WithNonceGenerator(func() string { return base64.StdEncoding.EncodeToString(nonce) })
	c := &Conversation{of: a, verifier: v, try: try}
	if binding != nil {
		c.ServerConversation = server.NewConversationWithChannelBinding(*binding)
	} else {
		c.ServerConversation = server.NewConversation()
	}
	return c, nil
}

// Account returns who has signed in, once the conversation is done; ErrSignIn if nobody
// has. A conversation that ends before it is done counts as a failure if Account is called.
func (c *Conversation) Account() (Account, error) {
	if !c.Done() || !c.Valid() || c.verifier.profile == nil {
		c.try.failed()
		return Account{}, ErrSignIn
	}
	c.try.succeeded(context.Background())
	return c.of.account(c.verifier.profile, c.verifier.seen, ""), nil
}

// A token is written as discreet_ID_SECRET: 8 bytes by which it is found, and 32 that
// nobody else knows.
const tokenPrefix = "discreet_"

// parseToken returns a token's parts. Of a text that is not a token it returns parts that no token
// has.
func parseToken(text string) (id string, secret []byte) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	id, hidden, found := strings.Cut(rest, "_")
	secret, err := base64.RawURLEncoding.Strict().DecodeString(hidden)
	if raw, bad := hex.DecodeString(id); !ok || !found || err != nil || bad != nil || len(raw) != 8 || len(secret) != 32 || hex.EncodeToString(raw) != id {
		return "", make([]byte, 32)
	}
	return id, secret
}

// SignInToken signs in by a token, from an address. Nobody guesses 256 bits, so that one
// that is right never waits, whatever strangers do; one that is wrong is told so late, which
// bounds what they can make the server do.
func (a *Accounts) SignInToken(ctx context.Context, text, address string) (_ Account, err error) {
	id, secret := parseToken(text)
	try := a.tried("token "+id, address)
	r, err := a.refresh(ctx)
	if err != nil {
		return Account{}, fmt.Errorf("sign in: %w", err)
	}
	name, want, err := a.token(ctx, id)
	if err != nil {
		return Account{}, fmt.Errorf("sign in: %w", err)
	}
	hash := sha256.Sum256(secret)
	same := hmac.Equal(hash[:], want)
	p := r.accounts[name]
	if p == nil {
		p = &profile{disabled: true}
	}
	t := p.tokens[id]
	counts := hmac.Equal(a.mac("token", name, id, string(want)), t.Digest)
	if !same || !counts || p.closed(a.now()) || t.expired(a.now()) {
		if err := try.wait(ctx); err != nil {
			return Account{}, err
		}
		try.failed()
		return Account{}, ErrSignIn
	}
	return a.account(p, r.last, id), nil
}

// token returns whose token an id is, and the hash of its secret; of an id that is nobody's,
// no secret has that hash.
func (a *Accounts) token(ctx context.Context, id string) (name string, hash []byte, err error) {
	rows, err := a.db.QueryContext(ctx, "SELECT account, hash FROM tokens WHERE id = ?", id)
	if err != nil {
		return "", nil, err
	}
	defer rows.Close()
	hash = a.mac("no token", id)
	for rows.Next() {
		if err := rows.Scan(&name, &hash); err != nil {
			return "", nil, err
		}
	}
	return name, hash, rows.Err()
}

// Certified is the account of somebody whom the caller has identified in another way: by the
// certificate of a connection, say. It refuses with ErrSignIn a name without an account, and
// one that is closed.
func (a *Accounts) Certified(ctx context.Context, name string) (Account, error) {
	r, err := a.refresh(ctx)
	if err != nil {
		return Account{}, fmt.Errorf("look at account: %w", err)
	}
	p := r.accounts[name]
	if p == nil || p.closed(a.now()) {
		return Account{}, ErrSignIn
	}
	return a.account(p, r.last, ""), nil
}
