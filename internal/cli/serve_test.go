//go:build cgo

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/serve"
)

// A running server is discreet serve in a folder of its own, on the demo's data.
type runningServer struct {
	serve.Addresses
	token, password string
	stop            func() (code int, talk string)
}

// serveDemo starts discreet serve without a catalog and waits until it is ready.
func serveDemo(t *testing.T, args ...string) runningServer {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	ready := filepath.Join(dir, "ready.json")
	ctx, cancel := context.WithCancel(context.Background())
	var talk lockedBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- Main(ctx, append([]string{"serve", "--postgres", "127.0.0.1:0", "--http", "127.0.0.1:0", "--ready-file", ready}, args...), strings.NewReader(""), io.Discard, &talk)
	}()
	s := runningServer{stop: sync.OnceValues(func() (int, string) {
		cancel()
		return <-ended, talk.String()
	})}
	t.Cleanup(func() { s.stop() })
	wait := time.NewTicker(20 * time.Millisecond)
	defer wait.Stop()
	for s.PID == 0 {
		select {
		case code := <-ended:
			ended <- code
			t.Fatalf("the server ended with %d:\n%s", code, talk.String())
		case <-wait.C:
			if text, err := os.ReadFile(ready); err == nil {
				if err := json.Unmarshal(text, &s.Addresses); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for s.token == "" { // the greeting follows the ready file
		<-wait.C
		said := talk.String()
		if m := regexp.MustCompile(`Bearer (discreet_\S+)"`).FindStringSubmatch(said); m != nil {
			s.token = m[1]
			s.password = regexp.MustCompile(`analyst:(\S+?)@`).FindStringSubmatch(said)[1]
		}
	}
	return s
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestServe: the first start serves the demo; a PostgreSQL client and a program ask, both
// are charged, a repetition is free at either door, and an interrupt ends the server.
func TestServe(t *testing.T) {
	s := serveDemo(t)
	if s.PID != os.Getpid() {
		t.Errorf("the ready file names process %d", s.PID)
	}
	conn, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://analyst:%s@%s/discreet?options=-c%%20discreet.rho%%3D0.01", s.password, s.Postgres))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	const sql = "SELECT department, count(*) AS visits FROM visits GROUP BY department ORDER BY department"
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	byWire := map[string]int64{}
	for rows.Next() {
		var department string
		var visits int64
		if err := rows.Scan(&department, &visits); err != nil {
			t.Fatal(err)
		}
		byWire[department] = visits
	}
	if rows.Err() != nil || len(byWire) == 0 {
		t.Fatalf("%d rows: %v", len(byWire), rows.Err())
	}
	answer := s.post(t, "/v1/query", `{"sql": "select department, count(*) as visits from visits group by 1 order by 1", "rho": 0.01}`)
	var a struct {
		Rows   [][]any
		Reused bool
	}
	if err := json.Unmarshal(answer, &a); err != nil || !a.Reused || len(a.Rows) != len(byWire) {
		t.Fatalf("by HTTP: %s", answer)
	}
	for _, row := range a.Rows {
		if byWire[row[0].(string)] != int64(row[1].(float64)) {
			t.Errorf("%v by HTTP, %d by the wire", row, byWire[row[0].(string)])
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/v1/tables": 200, "/nowhere": 404} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTP+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.token)
		if got := do(t, r); got.StatusCode != want {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
	run(t, t.Context(), 0, "serve", "--probe", "http://"+s.HTTP)
	if _, talk := run(t, t.Context(), 4, "serve", "--probe", "http://"+s.HTTP+"/nowhere"); !strings.Contains(talk, "D220") || !strings.Contains(talk, "404") {
		t.Errorf("a probe of what there is not says %s", talk)
	}
	if code, said := s.stop(); code != 0 {
		t.Errorf("ended with %d:\n%s", code, said)
	} else if strings.Contains(said, "visits from visits") {
		t.Errorf("the log holds a statement:\n%s", said)
	}
	if _, talk := run(t, t.Context(), 4, "serve", "--probe", "http://"+s.HTTP); !strings.Contains(talk, "D220") {
		t.Errorf("a probe of a server that has ended says %s", talk)
	}
}

func (s runningServer) post(t *testing.T, path, body string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.HTTP+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	answer := do(t, r)
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%s: %s %s %v", path, answer.Status, text, err)
	}
	return text
}

func do(t *testing.T, r *http.Request) *http.Response {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}
