//go:build cgo && linux

package siege_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Canaries are values of one patient that occur nowhere else.
const (
	canaryNote       = "kanarienvogel-7391-flugfeder"
	canaryDepartment = "Kanarienabteilung"
	canaryNumber     = 987654321987
	canaryPatient    = 778899665544332
	canaryCost       = 731.826354198
	canaryDay        = "1873-09-14"
)

// canaries are the forms in which the values could be written, by name.
func canaries() map[string][]byte {
	all := map[string][]byte{"day": []byte(canaryDay), "cost": []byte(fmt.Sprint(canaryCost)), "cost as bits": binary.LittleEndian.AppendUint64(nil, math.Float64bits(canaryCost))}
	for name, text := range map[string]string{"note": canaryNote, "department": canaryDepartment, "number": fmt.Sprint(canaryNumber), "patient": fmt.Sprint(canaryPatient)} {
		all[name] = []byte(text)
		all[name+" in hex"] = []byte(hex.EncodeToString([]byte(text)))
		for shift := range 3 { // what base64 makes of it depends on where it begins
			coded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + text))
			all[fmt.Sprintf("%s in base64, %d", name, shift)] = []byte(coded[(shift*8+5)/6 : len(coded)-4])
		}
	}
	for name, n := range map[string]uint64{"number": canaryNumber, "patient": canaryPatient} {
		all[name+" as bits"] = binary.LittleEndian.AppendUint64(nil, n)
		all[name+" as bits, largest first"] = binary.BigEndian.AppendUint64(nil, n)
	}
	return all
}

// A pit is where everything lands that came out, with where it came from.
type pit struct {
	mu    sync.Mutex
	found map[string]string // which canary, and where
	bytes int
	doors map[string]int // how much came from where

	routes *routes
}

func newPit() *pit {
	return &pit{found: map[string]string{}, doors: map[string]int{}, routes: newRoutes()}
}

func (p *pit) throw(from string, what []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += len(what)
	p.doors[from]++
	for name, c := range canaries() {
		if i := bytes.Index(what, c); i >= 0 {
			p.found[name+" from "+from] = fmt.Sprintf("%q", what[max(0, i-100):min(len(what), i+100)])
		}
	}
}

// nosy are statements that come close to the canaries, and do not have them in their text.
var nosy = []string{
	"SELECT count(*) AS n FROM visits",
	"SELECT department, count(*), avg(cost) FROM visits GROUP BY department",
	"SELECT note, count(*) FROM visits GROUP BY note",
	"SELECT ssn, count(*) FROM visits GROUP BY ssn",
	"SELECT seen::date, sum(cost) FROM visits GROUP BY 1",
	"SELECT count(*) FROM visits WHERE CAST(note AS integer) = 1",
	"SELECT count(*) FROM visits WHERE note::date > seen",
	"SELECT count(*) FROM visits WHERE 1 / (ssn - ssn) = 1",
	"SELECT count(*) FROM visits WHERE ssn * ssn * ssn > 0",
	"SELECT count(*) FROM visits WHERE ssn::integer > 0",
	"SELECT count(*) FROM visits WHERE note ~ '^(k|a)+.*r$'",
	"SELECT count(*) FROM visits WHERE note ~ '('",
	"SELECT count(*) FROM visits WHERE left(note, 3) = 'kan' AND sqrt(-cost) > 1",
	"SELECT sum(cost) FROM visits WHERE left(note, 3) = 'kan' HAVING count(*) > 0",
	"SELECT max(note) FROM visits", "SELECT min(seen) FROM visits", "SELECT sum(ssn) FROM visits",
	"SELECT * FROM visits", "SELECT note FROM visits WHERE ssn > 900000000000", "SELECT note, ssn FROM visits ORDER BY ssn DESC LIMIT 1",
	"SELECT count(*) FROM visits WHERE note = ssn", "SELECT count(*) FROM visits WHERE not = 1", "SELECT count(*) FROM visit", "SELECT coun(*) FROM visits",
	"SELECT patient_id, max(note) FROM visits GROUP BY patient_id", "SELECT 1 / count(*) FROM visits WHERE false", "SELECT",
	"SELECT count(*) FROM visits WHERE note = (SELECT note FROM visits)", "SELECT error(note) FROM visits", "SELECT string_agg(note, ',') FROM visits",
}

// TestCanaries asks of a server whose data have canaries, at every door and every route of HTTP, what comes close to
// them: answers, refusals, failures for want of memory, a crash, a kill. Then it looks for the
// canaries in everything that came out and in all that the process wrote or shows: answers with
// their headers and notices, pages, downloads, traces, metrics, log, ledger, journal, accounts, backups, exports, open and deleted
// files, environment, command line. The spill folder and the owner's log, which may hold values by
// docs/promise.md, are for the owner alone, and the first is empty when the next server runs.
func TestCanaries(t *testing.T) {
	s := newStand(t, "3000", "anna")
	rows, err := os.ReadFile(s.path("visits.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		department := canaryDepartment
		if i%2 == 0 {
			department = "d01"
		}
		rows = fmt.Appendf(rows, "%d,%s,%s,%d,%v,%s 11:22:33,%d\n", canaryPatient, department, canaryNote, 40+i, canaryCost, canaryDay, canaryNumber)
	}
	s.write(t, "visits.csv", string(rows))
	roomy := fmt.Sprintf(catalogText, "3000") + "[resources]\ntemp = \"spill\"\n"
	s.write(t, "discreet.toml", roomy)
	if err := os.Mkdir(s.path("spill"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := newPit()
	collector := p.collector(t)
	s.write(t, "serve.toml", configText+"[traces]\nendpoint = \""+collector.URL+"\"\n")

	v := s.serve(t)
	s.pry(t, p, v, nosy)
	if n := s.browse(t, p, v, nosy); n < 3 {
		t.Errorf("%d statements were answered on pages", n)
	}
	for route := range p.routes.not {
		t.Errorf("nobody has asked for %s: let pry or browse do it", route)
	}
	for deadline := time.Now().Add(20 * time.Second); p.many("traces") == 0 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond) // they are sent each second
	}
	if p.many("traces") == 0 {
		t.Error("no trace was sent")
	}
	s.keep(t, p)
	s.bare(t, p, v)
	v.kill()
	p.throw("log", []byte(v.said.String()))

	// Want of memory.
	s.write(t, "discreet.toml", strings.Replace(roomy, "[resources]", "[resources]\nmemory = \"1KB\"", 1))
	v = s.serve(t)
	failing := []string{"SELECT count(DISTINCT note) AS n FROM visits", "SELECT count(*) AS again FROM visits"}
	s.pry(t, p, v, failing)
	v.kill()
	p.throw("log", []byte(v.said.String()))
	s.write(t, "discreet.toml", roomy)
	p.throw("command", s.command(t, "ledger", "acknowledge", domain, "--note", "seen"))
	if text, err := os.ReadFile(s.path("discreet.ledger.log")); err != nil || !bytes.Contains(text, []byte("memory")) {
		t.Errorf("the owner's log does not say what failed: %q %v", text, err)
	}

	// A crash while statements run, and a kill.
	for _, end := range []syscall.Signal{syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGKILL} {
		v = s.serve(t)
		ctx, cancel := context.WithCancel(t.Context())
		var askers sync.WaitGroup
		for i := range 4 {
			askers.Go(func() {
				c, err := byWire(ctx, v, "anna", "")
				for n := 0; err == nil; n++ {
					_, err = c.ask(ctx, fmt.Sprintf("SELECT count(*) FROM visits WHERE ssn < %d", n*10+i), amount)
				}
				p.throw("postgres", []byte(err.Error()))
			})
		}
		time.Sleep(100 * time.Millisecond) // any instant will do
		if err := v.Process.Signal(end); err != nil {
			t.Fatal(err)
		}
		<-v.ended
		cancel()
		askers.Wait()
		p.throw("log", []byte(v.said.String()))
	}
	if text, err := os.ReadFile(s.path("discreet.ledger.log")); err != nil || !bytes.Contains(text, []byte("goroutine ")) {
		t.Errorf("a crash is not in the owner's log: %v", err)
	}
	v = s.serve(t)
	s.files(t, p)
	if n := s.abandoned(t); n > 0 {
		t.Errorf("servers that are gone have left %d spill folders", n)
	}
	for what, where := range p.found {
		t.Errorf("%s: %s", what, where)
	}
	t.Logf("looked for %d forms in %d bytes from %v", len(canaries()), p.bytes, p.doors)

	// A canary that is there is seen: in each form, at the doors, and in the files.
	for name, form := range canaries() {
		p := newPit()
		p.throw("here", slices.Concat([]byte("x"), form, []byte("y")))
		if _, ok := p.found[name+" from here"]; !ok {
			t.Errorf("%s is not seen", name)
		}
	}
	planted := newPit()
	seen := []string{"SELECT '" + canaryNote + "' AS note, count(*) FROM visits WHERE note = '" + canaryNote + "'"}
	s.pry(t, planted, v, seen)
	s.browse(t, planted, v, seen)
	s.keep(t, planted)
	v.kill()
	s.files(t, planted)
	for _, where := range []string{"http history", "postgres history", "discreet.ledger-wal", "page /ask/answer", "page download", "page /history", "export", "backup-2"} {
		if _, ok := planted.found["note from "+where]; !ok {
			t.Errorf("a canary in %s is not seen: %v", where, planted.found)
		}
	}
}

// pry asks statements at every door, in every way, and throws what comes out into the pit.
func (s *stand) pry(t *testing.T, p *pit, v *server, statements []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	token := s.tokens["anna"]

	config, err := pgx.ParseConfig(fmt.Sprintf("postgres://anna:%s@%s/discreet?sslmode=disable", strings.ReplaceAll(password, " ", "%20"), v.Postgres))
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { p.throw("postgres", fmt.Appendf(nil, "%+v", *n)) }
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // it fails where the server was killed
	say := func(from, sql string) {
		all, err := conn.PgConn().Exec(ctx, sql).ReadAll()
		for _, r := range all {
			p.throw(from, fmt.Appendf(nil, "%+v %q %v", r.FieldDescriptions, r.Rows, r.CommandTag))
		}
		var e *pgconn.PgError
		if errors.As(err, &e) {
			p.throw(from, fmt.Appendf(nil, "%+v", *e))
		} else if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	say("postgres", "SET discreet.rho = '"+amount+"'; SET discreet.delta = '1e-12'; SET discreet.fresh = on")
	for _, sql := range statements {
		say("postgres", sql)
		say("postgres", "EXPLAIN "+sql)
		say("postgres", "COPY ("+sql+") TO STDOUT")
		say("postgres", "BEGIN; DECLARE c CURSOR FOR "+sql+"; FETCH 3 c")
		say("postgres", "ROLLBACK")
		d, err := conn.Prepare(ctx, "", sql)
		p.throw("postgres", fmt.Appendf(nil, "%+v %v", d, err))
	}
	for _, table := range []string{"history", "budget", "tables", "last_answer"} {
		say("postgres "+table, "SELECT * FROM discreet."+table)
	}
	say("postgres", "SELECT * FROM pg_catalog.pg_class; SELECT * FROM information_schema.columns; SELECT * FROM pg_catalog.pg_stats; SELECT * FROM pg_catalog.pg_stat_activity")

	for _, who := range []string{"anna", "olga"} {
		for _, path := range []string{"/v1/tables", "/v1/tables/visits", "/v1/budget", "/metrics", "/openapi.json", "/healthz", "/readyz", "/nowhere", "/", "/v1/history?limit=500"} {
			from := "http"
			if strings.HasPrefix(path, "/v1/history") {
				from = "http history"
			}
			p.http(ctx, t, v, from, http.MethodGet, path, s.tokens[who], nil)
		}
	}
	p.http(ctx, t, v, "http", http.MethodPost, "/v1/account", token, []byte(`{"plan": "10 * gaussian(3)", "delta": 1e-6}`))
	p.http(ctx, t, v, "mcp", http.MethodPost, "/mcp", token, []byte(`{"jsonrpc": "2.0", "id": 1, "method": "no such method"}`))
	a, err := byAgent(ctx, v, "anna", token)
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	for _, sql := range statements {
		body, err := json.Marshal(map[string]any{"sql": sql, "rho": amount, "delta": "1e-12"})
		if err != nil {
			t.Fatal(err)
		}
		p.http(ctx, t, v, "http", http.MethodPost, "/v1/query", token, body)
		p.http(ctx, t, v, "http", http.MethodPost, "/v1/explain", token, body)
		for _, tool := range []string{"query", "explain"} {
			r, err := a.(*agent).CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"sql": sql, "rho": amount}})
			text, failed := json.Marshal(r)
			p.throw("mcp", fmt.Appendf(text, "%v %v", err, failed))
		}
	}
}

// many is how much came from somewhere.
func (p *pit) many(from string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.doors[from]
}

// keep makes a backup beside the server, whose files are looked at with all others, and exports what
// auditors are given.
func (s *stand) keep(t *testing.T, p *pit) {
	t.Helper()
	earlier, err := filepath.Glob(s.path("backup-?"))
	if err != nil {
		t.Fatal(err)
	}
	p.throw("command", s.command(t, "ledger", "backup", s.path(fmt.Sprint("backup-", len(earlier)+1))))
	for _, more := range [][]string{{"--format", "jsonl"}, {"--format", "csv"}, {"--format", "jsonl", "--journal"}, {"--format", "csv", "--journal"}} {
		p.throw("export", s.command(t, append([]string{"ledger", "export"}, more...)...))
	}
}

// http throws an answer with its headers into the pit.
func (p *pit) http(ctx context.Context, t *testing.T, v *server, from, method, path, token string, body []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+v.HTTP+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	p.routes.asked(r)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	defer got.Body.Close()
	var all bytes.Buffer
	if err := errors.Join(got.Header.Write(&all), got.Trailer.Write(&all)); err != nil {
		t.Error(err)
	}
	if _, err := all.ReadFrom(got.Body); err != nil {
		t.Error(err)
	}
	p.throw(from, all.Bytes())
}

// bare throws what the system shows of a process into the pit, and asks that it writes no core.
func (s *stand) bare(t *testing.T, p *pit, v *server) {
	t.Helper()
	at := fmt.Sprintf("/proc/%d/", v.PID)
	for _, file := range []string{"environ", "cmdline", "comm", "maps", "status", "limits"} {
		text, err := os.ReadFile(at + file)
		if err != nil {
			t.Fatal(err)
		}
		p.throw("process", text)
		if file == "limits" && !strings.Contains(strings.Join(strings.Fields(string(text)), " "), "Max core file size 0 0") {
			t.Errorf("it may write a core:\n%s", text)
		}
	}
	open, err := os.ReadDir(at + "fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		name, err := os.Readlink(at + "fd/" + f.Name())
		if err != nil || !strings.HasPrefix(name, "/") || device(name) || s.mayHold(strings.TrimSuffix(name, " (deleted)")) {
			continue
		}
		if text, err := os.ReadFile(at + "fd/" + f.Name()); err == nil { // a folder cannot be read
			p.throw("open file", text)
		}
	}
}

// mayHold reports whether a file may hold values: the data, the spill folder, the owner's log.
func (s *stand) mayHold(path string) bool {
	return path == s.path("visits.csv") || path == s.path("discreet.ledger.log") || strings.HasPrefix(path, s.path("spill"))
}

// files throws all files that were written into the pit, and asks that nobody else reads them.
func (s *stand) files(t *testing.T, p *pit) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if strings.HasPrefix(d.Name(), "core") {
			t.Errorf("%s looks like a core", path)
		}
		if s.mayHold(path) {
			return nil
		}
		text, err := os.ReadFile(path)
		p.throw(d.Name(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"discreet.ledger", "discreet.ledger.journal", "discreet.ledger.accounts", "head", "backup-1", "backup-1.accounts"} {
		if p.doors[name] == 0 {
			t.Errorf("there is no file %s among %v", name, slices.Sorted(maps.Keys(p.doors)))
		}
	}
}

// abandoned counts the spill folders whose lock no process holds.
func (s *stand) abandoned(t *testing.T) (n int) {
	t.Helper()
	all, err := filepath.Glob(s.path("spill/*/lock"))
	if err != nil || len(all) == 0 {
		t.Fatalf("a server that runs has no spill folder: %v", err)
	}
	for _, path := range all {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			n++
		}
		f.Close()
	}
	return n
}

// command runs a command of the owner's on the stand.
func (s *stand) command(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.Command("discreet", append(args, s.arguments()...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("discreet %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}
