//go:build unix

// Package trinotest starts a Trino cluster for tests: child processes on loopback ports, with an
// Iceberg catalog "lake" on local files and a catalog "memory".
//
// It is what bench/peers/setup trino has installed; a test skips, aloud, where that is absent. A
// start takes some 45 s of processor time, so that a run of many tests starts one cluster and
// names its address in DISCREET_TRINO.
package trinotest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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

	made    *atomic.Int64
	workers []*node
}

// Options say what a cluster is made of.
type Options struct {
	Workers int
}

type node struct {
	run   *exec.Cmd
	ended chan struct{}
	log   string
}

// Start starts a lone coordinator, or takes the cluster of DISCREET_TRINO.
func Start(t testing.TB) *Cluster {
	t.Helper()
	if url := os.Getenv("DISCREET_TRINO"); url != "" {
		return &Cluster{URL: url, made: new(atomic.Int64)}
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
	dir := t.TempDir()
	c := &Cluster{made: new(atomic.Int64)}
	ports := make([]int, 1+o.Workers)
	for i := range ports {
		ports[i] = freePort(t)
	}
	c.URL = fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	for i, port := range ports {
		n := launch(t, filepath.Join(dir, fmt.Sprint("node", i)), server, java, map[string]string{
			"coordinator": strconv.FormatBool(i == 0), "node-scheduler.include-coordinator": strconv.FormatBool(o.Workers == 0),
			"http-server.http.port": strconv.Itoa(port), "discovery.uri": c.URL, "node.environment": "test", "node.id": fmt.Sprint("node", i),
			"node.internal-address": "127.0.0.1", "catalog.management": "static", "access-control.config-files": "etc/access-control.properties", "retry-policy": "NONE",
			"query.max-memory-per-node": "400MB", "memory.heap-headroom-per-node": "250MB",
		}, filepath.Join(dir, "lake"), i == 0)
		if i > 0 {
			c.workers = append(c.workers, n)
		}
	}
	c.await(t, 1+o.Workers, filepath.Join(dir, "node0", "log"))
	return c
}

// rules say who may do what: the owner everything, the others something with tables that are
// named "shown".
const rules = `{
"catalogs": [{"user": "owner", "allow": "all"}, {"user": "writer|deleter", "catalog": "lake", "allow": "all"}, {"user": "reader|seer", "catalog": "lake", "allow": "read-only"}],
"schemas": [{"user": "owner", "owner": true}, {"owner": false}],
"tables": [
{"user": "owner", "privileges": ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP", "GRANT_SELECT"]},
{"user": "writer", "table": "shown(\\$refs)?", "privileges": ["SELECT", "INSERT"]},
{"user": "deleter", "table": "shown(\\$refs)?", "privileges": ["SELECT", "DELETE"]},
{"user": "seer", "privileges": ["SELECT"]},
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
func launch(t testing.TB, dir, server, java string, config map[string]string, lake string, coordinator bool) *node {
	t.Helper()
	write := func(name string, properties map[string]string) {
		var b strings.Builder
		for key, value := range properties {
			if !coordinator && key == "node-scheduler.include-coordinator" {
				continue
			}
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
	for _, p := range []string{"memory", "iceberg", "geospatial"} {
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
	n.run = exec.Command(java, "-Xmx900m", "-XX:+UseSerialGC", "--add-modules=java.se", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
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
func (c *Cluster) KillWorker(i int) { c.workers[i].kill() }

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
func (c *Cluster) Schema(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("lake.s%d_%d", os.Getpid(), c.made.Add(1))
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
		request.Header.Set("X-Trino-Time-Zone", "UTC")
		request.Header.Set("X-Trino-Client-Capabilities", "PARAMETRIC_DATETIME") // or times come in milliseconds
		var page struct {
			NextURI string              `json:"nextUri"`
			Data    [][]json.RawMessage `json:"data"`
			Error   *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err = fetch(request, &page); err != nil {
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

func fetch(request *http.Request, into any) error {
	answer, err := http.DefaultClient.Do(request)
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
