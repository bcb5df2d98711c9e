package postgres

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// certified returns a certificate for 127.0.0.1 and who trusts it.
func certified(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}, pool
}

// TestTLS: clients sign in over TLS, bound to its certificate where they can; who must use TLS
// and does not is sent away before a password is asked for.
func TestTLS(t *testing.T) {
	config, pool := certified(t)
	b := open(t, func(o *Options) { o.TLS, o.RequireTLS = config, true })
	host, port, err := net.SplitHostPort(b.address)
	if err != nil {
		t.Fatal(err)
	}
	for _, binding := range []string{"disable", "prefer", "require"} {
		c, err := pgx.ParseConfig("host=" + host + " port=" + port + " user=anna password=secret dbname=discreet sslmode=require channel_binding=" + binding)
		if err != nil {
			t.Fatal(err)
		}
		c.TLSConfig = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
		conn, err := pgx.ConnectConfig(t.Context(), c)
		if err != nil {
			t.Errorf("channel binding %s: %v", binding, err)
			continue
		}
		var x string
		if err := conn.QueryRow(t.Context(), "SELECT 'x'").Scan(&x); err != nil || x != "row 0" {
			t.Errorf("channel binding %s: %q, %v", binding, x, err)
		}
		if err := conn.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	l := b.dial(t)
	l.say(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "anna", "database": "discreet"}})
	if got := l.until('E'); got != "E(28000)" {
		t.Errorf("in the clear: %s", got)
	}
}

// TestNothingIsSmuggledBeforeTLS: what a client, or somebody between, sends in the clear after
// the request for TLS is taken for a part of the handshake, which fails.
func TestNothingIsSmuggledBeforeTLS(t *testing.T) {
	config, _ := certified(t)
	b := open(t, func(o *Options) { o.TLS = config })
	l := b.dial(t)
	request, err := (&pgproto3.SSLRequest{}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	start, err := (&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "anna", "database": "discreet"}}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Write(append(request, start...)); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1000)
	n := 0
	for n < len(answer) {
		m, err := l.Read(answer[n:])
		n += m
		if err != nil {
			if isTimeout(err) {
				t.Error("the connection is kept")
			}
			break
		}
	}
	if got := string(answer[:n]); !strings.HasPrefix(got, "S") || strings.Contains(got, "SCRAM") {
		t.Errorf("the server says %q", got)
	}
}

// TestVersions: a newer protocol and options that nobody knows are negotiated, other protocols
// refused.
func TestVersions(t *testing.T) {
	b := open(t, nil)
	start := func(version uint32, more map[string]string) string {
		l := b.dial(t)
		p := map[string]string{"user": "anna", "database": "discreet"}
		for k, v := range more {
			p[k] = v
		}
		l.say(&pgproto3.StartupMessage{ProtocolVersion: version, Parameters: p})
		m := l.receive()
		if v, ok := m.(*pgproto3.NegotiateProtocolVersion); ok {
			return "3." + string(rune('0'+v.NewestMinorProtocol&0xffff)) + " " + strings.Join(v.UnrecognizedOptions, ",")
		}
		if e, ok := m.(*pgproto3.ErrorResponse); ok {
			return e.Code
		}
		return "asks"
	}
	for _, test := range []struct {
		version uint32
		more    map[string]string
		want    string
	}{
		{3 << 16, nil, "asks"}, {3<<16 | 2, nil, "asks"}, {3<<16 | 9999, nil, "3.2 "}, {3<<16 | 2, map[string]string{"_pq_.a": "1"}, "3.2 _pq_.a"},
		{3 << 16, map[string]string{"_pq_.a": "1"}, "3.0 _pq_.a"}, {2 << 16, nil, "0A000"}, {4 << 16, nil, "0A000"},
	} {
		if got := start(test.version, test.more); got != test.want {
			t.Errorf("version %x with %v: %s, not %s", test.version, test.more, got, test.want)
		}
	}
}
