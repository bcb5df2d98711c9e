//go:build unix

package ledger

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgsql"
	"github.com/discreet-dp/discreet/internal/postgrestest"
)

// onServer names the environment variable with the URL of the server on which the suite makes
// its ledgers, a database each.
const onServer = "DISCREET_LEDGER_TEST_SERVER"

// testServer starts a server that syncs what it commits, and returns its URL.
func testServer(t testing.TB, settings ...string) string {
	t.Helper()
	return serverURL(postgrestest.Start(t, append([]string{"fsync=on", "max_connections=100"}, settings...)...))
}

// serverURL is the URL of a server by its connection string.
func serverURL(connection string) string {
	f := map[string]string{}
	for _, pair := range strings.Fields(connection) {
		k, v, _ := strings.Cut(pair, "=")
		f[k] = v
	}
	return fmt.Sprintf("postgres://%s@/%s?host=%s", f["user"], f["dbname"], url.QueryEscape(f["host"]))
}

var databases atomic.Int64

// newTestDatabase makes an empty database on a server and returns its URL.
func newTestDatabase(t testing.TB, server string) string {
	t.Helper()
	u := createDatabase(t, server)
	name := must(url.Parse(u)).Path[1:]
	t.Cleanup(func() { administer(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	return u
}

func createDatabase(t testing.TB, server string) string {
	t.Helper()
	name := fmt.Sprintf("ledger_%d_%d", os.Getpid(), databases.Add(1))
	administer(t, server, "CREATE DATABASE "+name+" TEMPLATE template0")
	u := must(url.Parse(server))
	u.Path = "/" + name
	return u.String()
}

func administer(t testing.TB, server, statement string) {
	t.Helper()
	db := must(pgsql.Open(server, nil))
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// emptied are databases of the suite's server whose ledger is gone. To create a database and to drop it takes the server seventy
// times as long as to empty one.
var emptied struct {
	sync.Mutex
	urls []string
}

// suiteDatabase is newTestDatabase on the suite's server, or a database of a test before that was emptied.
func suiteDatabase(t testing.TB, server string) (u string) {
	t.Helper()
	emptied.Lock()
	if n := len(emptied.urls); n > 0 {
		u, emptied.urls = emptied.urls[n-1], emptied.urls[:n-1]
	}
	emptied.Unlock()
	if u == "" {
		u = createDatabase(t, server)
	}
	t.Cleanup(func() {
		db := must(pgsql.Open(u, nil))
		defer db.Close()
		// Whoever was killed may be connected still.
		for _, statement := range []string{"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()", "DROP SCHEMA IF EXISTS discreet CASCADE"} {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		var left int
		if err := db.QueryRow(`SELECT (SELECT count(*) FROM pg_class WHERE oid >= 16384) + (SELECT count(*) FROM pg_proc WHERE oid >= 16384)
			+ (SELECT count(*) FROM pg_namespace WHERE oid >= 16384) + (SELECT count(*) FROM pg_event_trigger)
			+ (SELECT count(*) FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if left == 0 { // a test that left more is its database's last
			emptied.Lock()
			emptied.urls = append(emptied.urls, u)
			emptied.Unlock()
		}
	})
	return u
}

// The suite: what the ledger promises, whatever keeps its records. A test that is not here is
// about files, and postgres_test.go has its like.
var suite = []string{
	"TestReserveUntilExhausted", "TestRefusedRequests", "TestFiftyClientsOnABudgetForTen", "TestIdempotencyKeys", "TestCommit",
	"TestSuspension", "TestAccess", "TestCatalogAgainstLedger", "TestAddDomain", "TestHistory", "TestClosed",
	"TestEventsOfMechanisms", "TestLedgerOfEveryMeasure",
	"TestJ1ChangedGuard", "TestJ2SecondDomain", "TestJ3GuardedAndPublic", "TestJ7NarrowerSources", "TestConfirmRefusals", "TestJ4EditedGuard",
	"TestLedgerBehavesAsItsModel", "TestPageCostsWhatItReturns",
	"TestQuotas", "TestRulesOutOfMeasure", "TestNewRules", "TestRulesChanged", "TestApprovals", "TestApprovalIsUsedOnce",
	"TestHoldersBehaveAsTheirModel", "TestEditedRules", "TestFailedBatchIsForgotten",
	"TestRegister", "TestRegisterIsWrittenOnce",
	"TestRepetitionIsNotChargedAgain", "TestVersionEndsRepetitions", "TestUnansweredRepetitionIsCharged", "TestUnfinishedKeyIsRefused",
	"TestRepetitionWaitsForTheAnchor", "TestEditedRepetitions", "TestForgedRepetitionKey",
	"TestReuse", "TestReuseOfLess", "TestReuseNeedsAnApproval", "TestReuseBehavesAsItsModel", "TestForgedQuestion", "TestForgedAverages",
	"TestKilledAtRandomInstants", "TestCreateKilled", "TestProcessesOnOneBudget",
	"TestEditedLedgers", "TestEditedWhileOpen", "TestAnchorLagsBehindAnswersNever", "TestAnchorFaults",
	"TestRecomputedChain", "TestRecomputedAnchor", "TestKeysDoNotMix", "TestUsersAreRecorded",
}

// One suite for both: the tests of the file run again, each ledger in a database of one
// PostgreSQL server.
func TestSuiteOnPostgres(t *testing.T) {
	if os.Getenv(onServer) != "" || raceDetector {
		t.Skip("the suite runs once, without the race detector")
	}
	server := testServer(t)
	list := os.Getenv("DISCREET_LEDGER_TEST_SUITE")
	if list == "" {
		list = strings.Join(suite, "|")
	}
	cmd := exec.Command(must(os.Executable()), "-test.run=^("+list+")$", "-test.short", "-test.timeout=20m", "-test.v", "-rapid.checks="+strconv.Itoa(20))
	cmd.Env = append(os.Environ(), onServer+"="+server)
	out, err := cmd.CombinedOutput()
	ran := map[string]bool{}
	for line := range bytes.Lines(out) {
		if name, ok := strings.CutPrefix(string(bytes.TrimSpace(line)), "--- PASS: "); ok {
			ran[strings.Fields(name)[0]] = true
		}
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name := range strings.SplitSeq(list, "|") {
		if !ran[name] {
			t.Errorf("%s did not run", name)
		}
	}
}
