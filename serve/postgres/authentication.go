package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/serve/gateway"
)

const (
	plain = "SCRAM-SHA-256"
	bound = "SCRAM-SHA-256-PLUS" // to the connection's TLS certificate
)

// maxToken bounds a message before its sender is signed in.
const maxToken = 8192

// authenticate signs a client in by SCRAM-SHA-256. Who does not exist goes the same way as
// who gives a wrong password.
func (s *session) authenticate(ctx context.Context) (gateway.Asker, error) {
	nobody := gateway.Asker{}
	name, address := s.greeting.user, s.address()
	mechanisms, binding := []string{plain}, s.binding()
	if binding != nil {
		mechanisms = []string{bound, plain}
	}
	conversation, err := s.server.options.Accounts.Scram(ctx, name, address, binding)
	if err != nil {
		f := failed(ctx, err)
		f.fatal = true
		return nobody, f
	}
	done := false
	defer func() {
		if !done {
			conversation.Account() //nolint:errcheck // one that was broken off counts as a failure
		}
	}()
	s.send(&pgproto3.AuthenticationSASL{AuthMechanisms: mechanisms})
	var first pgproto3.SASLInitialResponse
	if err := s.token(pgproto3.AuthTypeSASL, func(m pgproto3.FrontendMessage) bool {
		r, ok := m.(*pgproto3.SASLInitialResponse)
		if ok {
			first = *r
		}
		return ok
	}); err != nil {
		return nobody, err
	}
	challenge := string(first.Data)
	switch {
	case first.AuthMechanism == bound && len(mechanisms) == 2 && strings.HasPrefix(challenge, "p="):
	case first.AuthMechanism == plain && !strings.HasPrefix(challenge, "p="):
	default:
		return nobody, protocolViolation("client selected an invalid SASL authentication mechanism")
	}
	answer, err := conversation.Step(challenge)
	if err != nil {
		return nobody, protocolViolation("malformed SCRAM message")
	}
	s.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(answer)})
	if err := s.token(pgproto3.AuthTypeSASLContinue, func(m pgproto3.FrontendMessage) bool {
		r, ok := m.(*pgproto3.SASLResponse)
		if ok {
			challenge = string(r.Data)
		}
		return ok
	}); err != nil {
		return nobody, err
	}
	answer, err = conversation.Step(challenge)
	account, refused := conversation.Account()
	done = true
	if err != nil || refused != nil {
		return nobody, fatal("28P01", fmt.Sprintf("password authentication failed for user %q", name))
	}
	s.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(answer)})
	return gateway.Asker{Account: account, Door: "postgres", Address: address}, nil
}

// token reads the client's next message of the conversation.
func (s *session) token(kind uint32, read func(pgproto3.FrontendMessage) bool) error {
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.in.SetAuthType(kind); err != nil {
		return err
	}
	m, err := s.in.Receive()
	if err != nil {
		return err
	}
	if !read(m) {
		return protocolViolation("expected a SASL response")
	}
	return nil
}

// binding is tls-server-end-point of RFC 5929: a digest of the certificate that this server
// has shown on the connection.
func (s *session) binding() *scram.ChannelBinding {
	if s.certificate == nil {
		return nil
	}
	// The library reads it as a client sees it: as its peer's.
	b, err := scram.NewTLSServerEndpointBinding(&tls.ConnectionState{PeerCertificates: []*x509.Certificate{s.certificate}})
	if err != nil { // Ed25519, for one, has no binding
		return nil
	}
	return &b
}
