//go:build cgo && unix

package trino_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/enginetest"
	"github.com/discreet-dp/discreet/engine/trino"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/postgrestest"
	"github.com/discreet-dp/discreet/internal/trinotest"
	"github.com/discreet-dp/discreet/sqltype"
)

// TestPasswords asks a coordinator over HTTPS, whose certificate is of its own making and whose
// users have passwords; and tables of its connectors to Hive's Parquet files and to PostgreSQL.
func TestPasswords(t *testing.T) {
	port := freePort(t)
	postgres := postgrestest.Start(t, "listen_addresses=127.0.0.1", "port="+strconv.Itoa(port), "max_connections=40")
	_ = postgres // Trino comes by TCP
	c := &cluster{trinotest.StartCluster(t, trinotest.Options{Passwords: true, Catalogs: map[string]map[string]string{
		"hive": {"connector.name": "hive", "hive.metastore": "file", "hive.metastore.catalog.dir": "local:///hive", "hive.storage-format": "PARQUET", "hive.timestamp-precision": "MICROSECONDS"},
		"base": {"connector.name": "postgresql", "connection-url": fmt.Sprintf("jdbc:postgresql://127.0.0.1:%d/postgres", port), "connection-user": "test", "connection-password": ""},
	}}), "lake"}
	t.Run("users", c.users)
	t.Run("refused", c.refused)
	for _, connector := range []string{"hive", "base"} {
		of := &cluster{c.Cluster, connector}
		t.Run(connector, func(t *testing.T) {
			enginetest.RunTables(t, of.open)
			of.moving(t)
		})
	}
}

// refused: a password that is wrong or missing, a certificate that nobody vouches for, and plain
// HTTP; and nothing of the password is in what is said.
func (c *cluster) refused(t *testing.T) {
	u, err := url.Parse(c.As("owner"))
	if err != nil {
		t.Fatal(err)
	}
	changed := func(f func(u *url.URL)) string {
		of := *u
		f(&of)
		return of.String()
	}
	stranger := httptest.NewTLSServer(nil)
	stranger.Close()
	other := filepath.Join(t.TempDir(), "other.pem") // a certificate that vouches for nobody here
	if err := os.WriteFile(other, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: stranger.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct{ url, want string }{
		"another password":        {changed(func(u *url.URL) { u.User = url.UserPassword("owner", "wrong 5417") }), "refuses the user, or the password"},
		"no password":             {changed(func(u *url.URL) { u.User = url.User("owner") }), "refuses the user, or the password"},
		"nobody's user":           {changed(func(u *url.URL) { u.User = url.UserPassword("nobody", trinotest.Password) }), "refuses the user, or the password"},
		"no certificate":          {changed(func(u *url.URL) { u.RawQuery = "" }), "vouches for the coordinator's certificate"},
		"another certificate":     {changed(func(u *url.URL) { u.RawQuery = "sslrootcert=" + url.QueryEscape(other) }), "vouches for the coordinator's certificate"},
		"another name":            {changed(func(u *url.URL) { u.Host = "localhost:" + u.Port() }), "vouches for the coordinator's certificate"},
		"no file":                 {changed(func(u *url.URL) { u.RawQuery = "sslrootcert=/nowhere" }), "names no file with certificates"},
		"plain HTTP of that port": {changed(func(u *url.URL) { u.Scheme, u.User, u.RawQuery = "http", url.User("owner"), "" }), ""},
	} {
		_, err := trino.Open(t.Context(), accepting(parse(t, "")), trino.Options{URL: x.url})
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || d.Code != "D101" || !strings.Contains(d.Why, x.want) || strings.Contains(fmt.Sprintf("%+v", d), "5417") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// moving: a table of these connectors has no snapshots, and the engine says so; one of Iceberg has.
func (c *cluster) moving(t *testing.T) {
	schema, lake := c.SchemaIn(t, c.catalog), c.Schema(t)
	c.Exec(t, "CREATE TABLE "+schema+".visits AS SELECT BIGINT '1' AS u")
	c.Exec(t, "CREATE TABLE "+lake+".visits AS SELECT BIGINT '1' AS u")
	declare := func(name, schema string) string {
		return "[tables." + name + "]\nsource = \"" + schema + ".visits\"\nunit = \"u\"\ndomain = \"people\"\n[tables." + name + ".columns]\nu = { type = \"bigint\" }\n"
	}
	e, err := c.openAs(t, accepting(parse(t, people+declare("a", schema)+declare("b", lake))), "owner")
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Moving([]string{"a", "b"}); len(got) != 1 || got[0] != "a" {
		t.Errorf("%v move", got)
	}
	q := engine.Query{SQL: "SELECT CAST(count(*) AS DECIMAL(38,0)) FROM \"a\"", Tables: []string{"a"}, Values: 1}
	c.Exec(t, "INSERT INTO "+schema+".visits VALUES BIGINT '2'")
	x, err := e.Exact(t.Context(), q)
	if err != nil {
		t.Fatal(cause(err))
	}
	if got := sqltype.Format(x.RevealExact()[0][0]); got != "2" {
		t.Errorf("it counts %s", got)
	}
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
