package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// The numbers that begin a connection, in place of a protocol's version.
const (
	cancelRequest = 80877102
	sslRequest    = 80877103
	gssRequest    = 80877104
)

// maxStartup bounds the first message, as PostgreSQL does.
const maxStartup = 10_000

// A greeting is how a connection begins: what a client wants to be and to whom.
type greeting struct {
	version      uint32 // of the protocol, as it was settled
	asked        uint32 // as the client asked for
	user         string
	database     string
	settings     []setting // in the order in which they take effect
	unrecognised []string  // protocol options that nobody here knows
}

// A setting is a name with a value, as a client gives it at the start.
type setting struct{ name, value string }

// greet reads the first messages of a connection: a request for TLS or for encryption by
// GSSAPI, which is refused, then the start-up message. It returns the connection to go on
// with. A nil greeting is a connection that wanted something else and has ended.
//
// The messages are read byte by byte as far as they go: what is sent in the clear before a
// handshake must not be taken for what comes after it.
func (s *Server) greet(ctx context.Context, conn net.Conn) (net.Conn, *greeting, error) {
	var asked struct{ tls, gss bool }
	for {
		body, err := readStartup(conn)
		if err != nil {
			return conn, nil, err
		}
		switch code := binary.BigEndian.Uint32(body); {
		case code == cancelRequest:
			if m := (pgproto3.CancelRequest{}); m.Decode(body) == nil && !s.running.cancel(m.ProcessID, m.SecretKey) {
				s.tell(ctx, cancelling(m.ProcessID, m.SecretKey))
			}
			return conn, nil, nil
		case code == sslRequest && !asked.tls && len(body) == 4:
			asked.tls = true
			if s.options.TLS == nil {
				if _, err := conn.Write([]byte{'N'}); err != nil {
					return conn, nil, err
				}
				continue
			}
			if _, err := conn.Write([]byte{'S'}); err != nil {
				return conn, nil, err
			}
			secure, err := shakeHands(ctx, conn, s.options.TLS)
			if err != nil {
				return conn, nil, err
			}
			conn = secure
		case code == gssRequest && !asked.gss && len(body) == 4:
			asked.gss = true
			if _, err := conn.Write([]byte{'N'}); err != nil {
				return conn, nil, err
			}
		case code>>16 == 3:
			g, err := readGreeting(body)
			if err != nil {
				return conn, nil, protocolViolation("invalid startup packet layout")
			}
			if _, secure := conn.(*encrypted); s.options.RequireTLS && !secure {
				return conn, nil, fatal("28000", "this server takes connections with TLS alone").hint("connect with sslmode=require, or better verify-full")
			}
			return conn, g, nil
		default:
			return conn, nil, fatal("0A000", fmt.Sprintf("unsupported frontend protocol %d.%d: server supports 3.0 to 3.2", code>>16, code&0xffff))
		}
	}
}

// An encrypted connection knows the certificate that this server has shown on it.
type encrypted struct {
	*tls.Conn
	certificate *x509.Certificate
}

func shakeHands(ctx context.Context, conn net.Conn, config *tls.Config) (*encrypted, error) {
	var shown *tls.Certificate
	own := config.Clone()
	own.Certificates = nil
	own.GetCertificate = func(h *tls.ClientHelloInfo) (c *tls.Certificate, err error) {
		if config.GetCertificate != nil {
			c, err = config.GetCertificate(h)
		}
		for i := range config.Certificates {
			if c == nil && err == nil && (len(config.Certificates) == 1 || h.SupportsCertificate(&config.Certificates[i]) == nil) {
				c = &config.Certificates[i]
			}
		}
		shown = c
		return c, err
	}
	e := &encrypted{Conn: tls.Server(conn, own)}
	if err := e.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("shake hands: %w", err)
	}
	if shown != nil && len(shown.Certificate) > 0 {
		var err error
		if e.certificate, err = x509.ParseCertificate(shown.Certificate[0]); err != nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
	}
	return e, nil
}

// readStartup reads a message that has a length and no type.
func readStartup(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n < 8 || n > maxStartup {
		return nil, errNotPostgres
	}
	body := make([]byte, n-4)
	_, err := io.ReadFull(r, body)
	return body, err
}

// errNotPostgres ends a connection without an answer: whoever sent this would not read one.
var errNotPostgres = errors.New("no startup message")

func readGreeting(body []byte) (*greeting, error) {
	g := &greeting{asked: binary.BigEndian.Uint32(body)}
	g.version = min(g.asked, pgproto3.ProtocolVersion32)
	if g.version != pgproto3.ProtocolVersion32 {
		g.version = pgproto3.ProtocolVersion30
	}
	binary.BigEndian.PutUint32(body, g.version)
	m := pgproto3.StartupMessage{}
	if len(body) > 5 { // a message without parameters, which the decoder does not know, names no user
		if err := m.Decode(body); err != nil {
			return nil, err
		}
	}
	g.user, g.database = m.Parameters["user"], m.Parameters["database"]
	if g.database == "" {
		g.database = g.user
	}
	var named []setting
	for name, value := range m.Parameters {
		switch {
		case name == "user" || name == "database" || name == "replication":
		case name == "options":
			g.settings = append(g.settings, commandLine(value)...)
		case strings.HasPrefix(name, "_pq_."):
			g.unrecognised = append(g.unrecognised, name)
		default:
			named = append(named, setting{strings.ToLower(name), value})
		}
	}
	slices.Sort(g.unrecognised)
	slices.SortFunc(named, func(a, b setting) int { return strings.Compare(a.name, b.name) })
	g.settings = append(g.settings, named...)
	return g, nil
}

// commandLine reads start-up options in the form of a server's command line:
// "-c name=value" and "--name=value". Blanks separate, a backslash takes the next character
// as it is. What has another form is kept under its own name and refused with the settings.
func commandLine(text string) (all []setting) {
	words := splitOptions(text)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" && i+1 < len(words):
			i++
			w = words[i]
		case strings.HasPrefix(w, "-c"):
			w = w[2:]
		case strings.HasPrefix(w, "--"):
			w = w[2:]
		}
		name, value, _ := strings.Cut(w, "=")
		all = append(all, setting{strings.ToLower(strings.ReplaceAll(name, "-", "_")), value})
	}
	return all
}

func splitOptions(text string) (words []string) {
	var word strings.Builder
	in, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\':
			in, escaped = true, true
		case strings.ContainsRune(" \t\n\r\v\f", r):
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words
}
