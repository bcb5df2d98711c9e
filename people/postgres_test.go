//go:build unix

package people

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet/internal/postgrestest"
)

// A password has the verifier that PostgreSQL's own server makes of it.
func TestVerifiersAreThoseOfPostgreSQL(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), postgrestest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for i, password := range []string{"a", "correct horse battery", " x ", "I\u00adX", "\u00aa", "\u2168", "a\u00a0b", "e\u0301", "a\u0007b", "\u0627\u0031", "\u0627a", "ß", "数", "\u0221", "😀", strings.Repeat("ü", 200), `'";--`} {
		name := fmt.Sprint("role", i)
		if _, err := conn.Exec(t.Context(), fmt.Sprintf("CREATE ROLE %s PASSWORD '%s'", name, strings.ReplaceAll(password, "'", "''"))); err != nil {
			t.Fatalf("%q: %v", password, err)
		}
		var stored string
		if err := conn.QueryRow(t.Context(), "SELECT rolpassword FROM pg_authid WHERE rolname = $1", name).Scan(&stored); err != nil {
			t.Fatal(err)
		}
		var f scram.KeyFactors
		form, keys, _ := strings.Cut(strings.TrimPrefix(stored, "SCRAM-SHA-256$"), "$")
		iterations, salt, _ := strings.Cut(form, ":")
		if _, err := fmt.Sscan(iterations, &f.Iters); err != nil {
			t.Fatalf("%s: %v", stored, err)
		}
		f.Salt = string(must(base64.StdEncoding.DecodeString(salt)))
		c := must(derive(password, f))
		if ours := base64.StdEncoding.EncodeToString(c.StoredKey) + ":" + base64.StdEncoding.EncodeToString(c.ServerKey); ours != keys {
			t.Errorf("%q: ours is %s, PostgreSQL's %s", password, ours, keys)
		}
	}
}
