//go:build unix

// Package trinotest starts a Trino cluster for tests: child processes on loopback ports, with an
// Iceberg catalog "lake" on local files, a catalog "memory", and others where a test asks for them.
//
// It is what bench/peers/setup trino has installed; a test skips, aloud, where that is absent. A
// start takes some 45 s of processor time, so that a run of many tests starts one cluster and
// names its address in DISCREET_TRINO.
package trinotest

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A Cluster is a coordinator, which computes too where there are no workers.
type Cluster struct {
	URL string // of the coordinator
	// Root is the file of the certificate by which it is known, where it has Passwords.
	Root string

	made    *atomic.Int64
	client  *http.Client
	nodes   []*node // the coordinator first
	secured bool
}

// Options say what a cluster is made of.
type Options struct {
	Workers int
	// Heap is the memory of each process, in MiB; 900 if it is 0. A query may use four ninths of it.
	Heap int
	// Passwords: it is asked over HTTPS, with a certificate of its own making, and each user has
	// the password Password.
	Passwords bool
	// Catalogs are further ones: their properties by their names.
	Catalogs map[string]map[string]string
}

// Password is every user's, where there are passwords.
const Password = "correct horse 5417"

type node struct {
	run   *exec.Cmd
	ended chan struct{}
	log   string
}

// Start starts a lone coordinator, or takes the cluster of DISCREET_TRINO.
func Start(t testing.TB) *Cluster {
	t.Helper()
	if url := os.Getenv("DISCREET_TRINO"); url != "" {
		return &Cluster{URL: url, made: new(atomic.Int64), client: http.DefaultClient}
	}
	return StartCluster(t, Options{})
}

// root is the repository's: the first folder above that has a go.mod.
func root(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("the tests are outside of a module")
	return ""
}

// StartCluster starts a cluster of the test's own.
func StartCluster(t testing.TB, o Options) *Cluster {
	t.Helper()
	kept := filepath.Join(root(t), "bench", "peers", "trino")
	server, java := filepath.Join(kept, "server"), filepath.Join(kept, "java", "bin", "java")
	for _, needed := range []string{filepath.Join(server, "lib"), java} {
		if _, err := os.Stat(needed); err != nil {
			t.Skip("no Trino here: bench/peers/setup trino has not been run, or could not install it (about 1 GB)")
		}
	}
	o.Heap = cmp.Or(o.Heap, 900)
	dir := t.TempDir()
	c := &Cluster{made: new(atomic.Int64), client: http.DefaultClient, secured: o.Passwords}
	ports := make([]int, 1+o.Workers)
	for i := range ports {
		ports[i] = freePort(t)
	}
	inside := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	c.URL = inside
	if o.Passwords {
		c.URL = fmt.Sprintf("https://127.0.0.1:%d", freePort(t))
		c.Root = filepath.Join(dir, "root.pem")
	}
	for i, port := range ports {
		at := filepath.Join(dir, fmt.Sprint("node", i))
		config := map[string]string{
			"coordinator": strconv.FormatBool(i == 0), "http-server.http.port": strconv.Itoa(port), "discovery.uri": inside, "node.environment": "test", "node.id": fmt.Sprint("node", i),
			"node.internal-address": "127.0.0.1", "catalog.management": "static", "access-control.config-files": "etc/access-control.properties", "retry-policy": "NONE",
			"query.max-memory-per-node": fmt.Sprint(o.Heap*4/9, "MB"), "memory.heap-headroom-per-node": fmt.Sprint(o.Heap*5/18, "MB"),
		}
		if i == 0 {
			config["node-scheduler.include-coordinator"] = strconv.FormatBool(o.Workers == 0)
		}
		if o.Passwords {
			config["internal-communication.shared-secret"] = "between nodes of one test"
		}
		if o.Passwords && i == 0 {
			_, https, _ := strings.Cut(strings.TrimPrefix(c.URL, "https://"), ":")
			config["http-server.https.enabled"], config["http-server.https.port"] = "true", https
			config["http-server.https.keystore.path"] = "etc/keystore.pem"
			config["http-server.authentication.type"] = "PASSWORD"
			c.secure(t, at)
		}
		c.nodes = append(c.nodes, launch(t, at, server, java, config, filepath.Join(dir, "lake"), o))
	}
	c.await(t, 1+o.Workers, filepath.Join(dir, "node0", "log"))
	return c
}

// rules say who may do what: the owner everything, discreet what docs/lake.md says, the others
// something with tables that are named "shown".
const rules = `{
"catalogs": [{"user": "owner", "allow": "all"}, {"user": "writer|deleter", "catalog": "lake", "allow": "all"}, {"user": "reader|seer|discreet", "catalog": "lake", "allow": "read-only"}],
"schemas": [{"user": "owner", "owner": true}, {"owner": false}],
"tables": [
{"user": "owner", "privileges": ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP", "GRANT_SELECT"]},
{"user": "writer", "table": "shown(\\$refs)?", "privileges": ["SELECT", "INSERT"]},
{"user": "deleter", "table": "shown(\\$refs)?", "privileges": ["SELECT", "DELETE"]},
{"user": "seer", "privileges": ["SELECT"]},
{"user": "discreet", "catalog": "lake", "schema": "clinic", "table": "(visits|departments)(\\$refs)?", "privileges": ["SELECT"]},
{"user": "reader", "table": "shown(\\$refs)?", "privileges": ["SELECT"]}]
}
`

func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return port
}

// launch starts one process. Trino reads plugins and files from its folder.
func launch(t testing.TB, dir, server, java string, config map[string]string, lake string, o Options) *node {
	t.Helper()
	write := func(name string, properties map[string]string) {
		var b strings.Builder
		for key, value := range properties {
			fmt.Fprintf(&b, "%s=%s\n", key, value)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("etc/config.properties", config)
	write("etc/catalog/memory.properties", map[string]string{"connector.name": "memory"})
	write("etc/catalog/lake.properties", map[string]string{
		"connector.name": "iceberg", "iceberg.catalog.type": "TESTING_FILE_METASTORE", "hive.metastore.catalog.dir": "local:///lake",
		"fs.native-local.enabled": "true", "local.location": lake,
	})
	plugins := map[string]bool{"memory": true, "iceberg": true, "geospatial": true}
	for name, properties := range o.Catalogs {
		properties = maps.Clone(properties)
		if properties["connector.name"] == "hive" {
			properties["fs.native-local.enabled"], properties["local.location"] = "true", lake
		}
		write("etc/catalog/"+name+".properties", properties)
		plugins[properties["connector.name"]] = true
	}
	if config["http-server.authentication.type"] != "" {
		plugins["password-authenticators"] = true
	}
	write("etc/access-control.properties", map[string]string{"access-control.name": "file", "security.config-file": "etc/rules.json"})
	if err := os.WriteFile(filepath.Join(dir, "etc", "rules.json"), []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(lake, "lake"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "plugin"), 0o700); err != nil {
		t.Fatal(err)
	}
	for p := range plugins {
		if err := os.Symlink(filepath.Join(server, "plugin", p), filepath.Join(dir, "plugin", p)); err != nil {
			t.Fatal(err)
		}
	}
	n := &node{log: filepath.Join(dir, "log"), ended: make(chan struct{})}
	log, err := os.Create(n.log)
	if err != nil {
		t.Fatal(err)
	}
	// The runtime has no vector module, and fewer collectors' threads than cores leave room.
	n.run = exec.Command(java, fmt.Sprintf("-Xmx%dm", o.Heap), "-XX:+UseSerialGC", "--add-modules=java.se", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
		"-cp", filepath.Join(server, "lib", "*"), "-Dnode.environment=test", "-Dconfig=etc/config.properties", "io.trino.server.TrinoServer")
	n.run.Dir, n.run.Stdout, n.run.Stderr = dir, log, log
	if err := n.run.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = n.run.Wait(); log.Close(); close(n.ended) }()
	t.Cleanup(n.kill)
	return n
}

func (n *node) kill() {
	_ = n.run.Process.Kill() // it may be gone
	<-n.ended
}

// KillWorker kills a worker, and waits until it is gone.
func (c *Cluster) KillWorker(i int) { c.nodes[1+i].kill() }

// Processes are the numbers of the cluster's processes, that of the coordinator first.
func (c *Cluster) Processes() (all []int) {
	for _, n := range c.nodes {
		all = append(all, n.run.Process.Pid)
	}
	return all
}

// As is the URL by which a user asks, with the password where there are passwords.
func (c *Cluster) As(user string) string {
	scheme, host, _ := strings.Cut(c.URL, "://")
	if !c.secured {
		return scheme + "://" + user + "@" + host
	}
	return scheme + "://" + url.UserPassword(user, Password).String() + "@" + host + "?sslrootcert=" + url.QueryEscape(c.Root)
}

// secure makes a certificate for the coordinator and the file of its users' passwords.
func (c *Cluster) secure(t testing.TB, dir string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a test's coordinator"}, NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	must(err)
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	must(os.MkdirAll(filepath.Join(dir, "etc"), 0o700))
	must(os.WriteFile(c.Root, public, 0o600))
	must(os.WriteFile(filepath.Join(dir, "etc", "keystore.pem"), append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), public...), 0o600))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(public)
	c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}

	const iterations = 1000 // Trino takes no fewer
	salt := []byte("of one test's run")
	hash, err := pbkdf2.Key(sha1.New, Password, salt, iterations, 32) // as Trino's file has it
	must(err)
	var users strings.Builder
	for _, user := range []string{"owner", "writer", "deleter", "seer", "reader", "discreet"} {
		fmt.Fprintf(&users, "%s:%d:%x:%x\n", user, iterations, salt, hash)
	}
	must(os.WriteFile(filepath.Join(dir, "etc", "passwords"), []byte(users.String()), 0o600))
	must(os.WriteFile(filepath.Join(dir, "etc", "password-authenticator.properties"), []byte("password-authenticator.name=file\nfile.password-file=etc/passwords\n"), 0o600))
}

// await waits until so many nodes compute.
func (c *Cluster) await(t testing.TB, nodes int, log string) {
	t.Helper()
	for range 600 {
		time.Sleep(time.Second)
		rows, err := c.Query("SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'")
		if err == nil && len(rows) == 1 && *rows[0][0] == strconv.Itoa(nodes) {
			return
		}
	}
	said, _ := os.ReadFile(log)
	t.Fatalf("Trino did not start:\n%s", said[max(0, len(said)-4000):])
}

// Schema makes a schema that nobody else has, in the lake.
func (c *Cluster) Schema(t testing.TB) string { t.Helper(); return c.SchemaIn(t, "lake") }

// SchemaIn makes one in another catalog.
func (c *Cluster) SchemaIn(t testing.TB, catalog string) string {
	t.Helper()
	name := fmt.Sprintf("%s.s%d_%d", catalog, os.Getpid(), c.made.Add(1))
	c.Exec(t, "CREATE SCHEMA "+name)
	return name
}

// Exec runs a statement.
func (c *Cluster) Exec(t testing.TB, sql string) [][]*string {
	t.Helper()
	rows, err := c.Query(sql)
	if err != nil {
		t.Fatalf("%s: %v", sql[:min(len(sql), 2000)], err)
	}
	return rows
}

// Query runs a statement as the user "owner". Values come as the texts of their JSON, texts as
// they are.
func (c *Cluster) Query(sql string) (rows [][]*string, err error) {
	request, err := http.NewRequest(http.MethodPost, c.URL+"/v1/statement", strings.NewReader(sql))
	for err == nil {
		request.Header.Set("X-Trino-User", "owner")
		if c.secured {
			request.SetBasicAuth("owner", Password)
		}
		request.Header.Set("X-Trino-Time-Zone", "UTC")
		request.Header.Set("X-Trino-Client-Capabilities", "PARAMETRIC_DATETIME") // or times come in milliseconds
		var page struct {
			NextURI string              `json:"nextUri"`
			Data    [][]json.RawMessage `json:"data"`
			Error   *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err = c.fetch(request, &page); err != nil {
			break
		}
		if page.Error != nil {
			return nil, errors.New(page.Error.Message)
		}
		for _, data := range page.Data {
			row := make([]*string, len(data))
			for i, x := range data {
				text := string(x)
				if bytes.HasPrefix(x, []byte(`"`)) {
					if err := json.Unmarshal(x, &text); err != nil {
						return nil, err
					}
				}
				if text != "null" {
					row[i] = &text
				}
			}
			rows = append(rows, row)
		}
		if page.NextURI == "" {
			return rows, nil
		}
		request, err = http.NewRequest(http.MethodGet, page.NextURI, nil)
	}
	return nil, err
}

func (c *Cluster) fetch(request *http.Request, into any) error {
	answer, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d: %s", answer.StatusCode, text)
	}
	return json.Unmarshal(text, into)
}

// Work is what a statement has cost a cluster, as that counts it.
type Work struct {
	Processor time.Duration // of the threads that computed
	Moved     int64         // bytes, between workers
	Most      int64         // bytes that one worker has held at once
}

// WorkOf is that of the statement that ended last among those whose text has a mark.
func (c *Cluster) WorkOf(t testing.TB, mark string) (w Work) {
	t.Helper()
	last := c.Exec(t, "SELECT query_id FROM system.runtime.queries WHERE strpos(query, '"+mark+"') > 0 AND strpos(query, 'query_id') = 0 ORDER BY \"end\" DESC LIMIT 1")
	if len(last) != 1 {
		t.Fatalf("no statement has %q", mark)
	}
	request, err := http.NewRequest(http.MethodGet, c.URL+"/v1/query/"+*last[0][0], nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Trino-User", "owner")
	var of struct {
		Stats struct {
			Processor string `json:"totalCpuTime"`
			Moved     string `json:"internalNetworkInputDataSize"`
			Most      string `json:"peakTaskTotalMemory"`
		} `json:"queryStats"`
	}
	if err := c.fetch(request, &of); err != nil {
		t.Fatal(err)
	}
	if w.Processor, err = time.ParseDuration(of.Stats.Processor); err != nil {
		t.Fatal(err)
	}
	for into, text := range map[*int64]string{&w.Moved: of.Stats.Moved, &w.Most: of.Stats.Most} {
		if *into, err = strconv.ParseInt(strings.TrimSuffix(text, "B"), 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return w
}
