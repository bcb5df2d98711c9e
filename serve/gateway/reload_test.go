//go:build cgo

package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
)

// A reloader reads changed catalogs into a gateway.
type reloader struct {
	gatewaytest.World
	dir, text string
	opened    int
}

func newReloader(t testing.TB) *reloader {
	t.Helper()
	dir := t.TempDir()
	w := gatewaytest.Open(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, "discreet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &reloader{World: w, dir: dir, text: string(text)}
}

// changed is the catalog with one text in place of another.
func (r *reloader) changed(t testing.TB, old, fresh string) *catalog.Catalog {
	t.Helper()
	text := strings.Replace(r.text, old, fresh, 1)
	if old != fresh && text == r.text {
		t.Fatalf("%q is not in the catalog:\n%s", old, r.text)
	}
	c, err := catalog.Parse(filepath.Join(r.dir, "discreet.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (r *reloader) reload(t testing.TB, c *catalog.Catalog) error {
	_, err := r.Reload(t.Context(), c, func(ctx context.Context) (engine.Engine, error) {
		r.opened++
		e, err := duckdb.Open(ctx, c, duckdb.Options{Threads: 2, Temp: r.dir})
		if err != nil {
			return nil, err
		}
		return e, nil
	})
	return err
}

func (r *reloader) accept(t testing.TB, c *catalog.Catalog) {
	t.Helper()
	if err := r.Ledger.SayCatalog(t.Context(), "olga", gatewaytest.Noon, ledger.CatalogWord{Catalog: r.Ledger.CatalogName(c.Path), Digest: c.Digest, Accepted: true}); err != nil {
		t.Fatal(err)
	}
}

// groups is the bound of the visits' groups by which statements are answered, where there are more of these.
func (r *reloader) groups(t testing.TB) int64 {
	t.Helper()
	e, err := r.Explain(t.Context(), olga, "SELECT department, sex, count(*) AS visits FROM visits GROUP BY department, sex", rho(t, "0.01"))
	if err != nil {
		t.Fatal(err)
	}
	return e.Mechanisms[0].MaxGroupsPerUnit
}

func bounded(n int) string { return "max_groups_per_unit = " + strconv.Itoa(n) }

// TestReload: a tighter catalog is served at once; one that lets more be learnt, guards
// other data or cannot be opened leaves all as it was, until the owner accepts exactly its
// text, which holds for one change.
func TestReload(t *testing.T) {
	r := newReloader(t)
	before := r.groups(t)
	old := bounded(int(before))
	refused := func(c *catalog.Catalog, code string) {
		t.Helper()
		opened, served := r.opened, r.groups(t)
		err := r.reload(t, c)
		var d *diagnostic.Diagnostic
		if errors.As(err, &d) && d.Code != code || code == "" && !errors.Is(err, ledger.ErrGuardDiffers) || err == nil {
			t.Errorf("reload: %v, want %s", err, code)
		}
		if code != "D101" && r.opened != opened {
			t.Error("what was refused was opened")
		}
		if got := r.groups(t); got != served {
			t.Errorf("the bound was %d and is %d", served, got)
		}
	}
	empty, err := catalog.Parse(filepath.Join(r.dir, "discreet.toml"), "")
	if err != nil {
		t.Fatal(err)
	}
	refused(empty, "D097")
	loose, tight := r.changed(t, old, bounded(int(before)+1)), r.changed(t, old, bounded(2))
	refused(loose, "D219")
	if err := r.reload(t, tight); err != nil {
		t.Fatal(err)
	}
	if got := r.groups(t); got != 2 {
		t.Errorf("after a reload the bound is %d", got)
	}
	whole := r.changed(t, "", "")
	refused(whole, "D219") // what was served before is looser now
	r.accept(t, loose)
	refused(whole, "D219") // another text was accepted
	r.accept(t, whole)
	if err := r.reload(t, whole); err != nil {
		t.Fatal(err)
	}
	if got := r.groups(t); got != before {
		t.Errorf("what was accepted is not served: %d", got)
	}
	if err := r.reload(t, tight); err != nil {
		t.Fatal(err)
	}
	refused(whole, "D219") // the acceptance was for one change

	if err := os.WriteFile(filepath.Join(r.dir, "other.parquet"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	other := r.changed(t, `"visits.parquet"`, `"other.parquet"`)
	r.accept(t, other)
	refused(other, "") // the ledger guards the file, and accepting is not confirming
	broken := errors.New("no engine")
	if _, err := r.Reload(t.Context(), tight, func(context.Context) (engine.Engine, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("an engine that does not open: %v", err)
	}
	if _, err := r.Query(t.Context(), asker(t, r.World, "olga"), grouped, rho(t, "0.001")); err != nil {
		t.Errorf("after reloads that failed: %v", err)
	}
	if last, _, err := r.Ledger.LastCatalog(t.Context(), "discreet.toml"); err != nil || !last.Accepted || !last.Of(other.Digest) {
		t.Errorf("the last word: %v %v", last, err)
	}
}

// TestReloadVoidsApprovals: a grant is for the catalog that the owner has seen.
func TestReloadVoidsApprovals(t *testing.T) {
	r := newReloader(t)
	if err := r.People.Limit(t.Context(), "olga", "anna", "patient", allowance(t, "0.005")); err != nil {
		t.Fatal(err)
	}
	who := asker(t, r.World, "anna")
	ask := func() *gateway.Pending {
		t.Helper()
		_, err := r.Query(t.Context(), who, "SELECT count(*) FROM visits", rho(t, "0.01"))
		var p *gateway.Pending
		if !errors.As(err, &p) {
			t.Fatalf("not pending: %v", err)
		}
		return p
	}
	first := ask()
	id, err := strconv.ParseInt(first.Approval, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.People.Grant(t.Context(), "olga", id); err != nil {
		t.Fatal(err)
	}
	if err := r.reload(t, r.changed(t, "[domains", "# read again\n[domains")); err != nil {
		t.Fatal(err)
	}
	if again := ask(); again.Approval == first.Approval {
		t.Error("a grant served under another catalog")
	}
}

// TestReloadWhileStatementsRun: statements end by the catalog that they began with, and
// whatever is charged after a catalog is on record was planned by it.
func TestReloadWhileStatementsRun(t *testing.T) {
	for _, known := range []bool{true, false} { // to the accounts, or to a door alone
		reloadWhileStatementsRun(t, known)
	}
}

func reloadWhileStatementsRun(t *testing.T, known bool) {
	r := newReloader(t)
	who := olga
	if known {
		who = asker(t, r.World, "olga")
	}
	ask := func() error {
		o := rho(t, "0.0001")
		o.Fresh = true
		_, err := r.Query(t.Context(), who, grouped, o)
		return err
	}
	var asking sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := ask(); err != nil && !errors.Is(err, ledger.ErrRulesChanged) {
					t.Errorf("asker %d: %v", i, err)
					return
				}
			}
		})
	}
	from := r.groups(t)
	for i := range 8 {
		c := r.changed(t, bounded(int(from)), bounded(2+i%2))
		r.accept(t, c)
		if err := r.reload(t, c); err != nil {
			t.Error(err)
		}
		if err := ask(); err != nil { // the others may be slow
			t.Error(err)
		}
	}
	close(stop)
	asking.Wait()

	digests := map[string]string{}
	for n := range 2 {
		digests[string(r.changed(t, bounded(int(from)), bounded(2+n)).Digest)] = `"max_groups_per_unit":` + strconv.Itoa(2+n)
	}
	var word ledger.CatalogWord
	all, err := r.Ledger.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now, charged := "", 0
	for _, e := range all {
		if e.Rule != nil && e.Rule.Subject == "catalog:discreet.toml" {
			word = ledger.CatalogWord{}
			if err := json.Unmarshal(e.Rule.Body, &word); err != nil {
				t.Fatal(err)
			}
			if !word.Accepted {
				now = digests[string(word.Digest)]
			}
		}
		if e.Kind == "reserve" && now != "" {
			charged++
			if !strings.Contains(string(e.Certificate), now) {
				t.Errorf("record %d was charged by another catalog than the one on record, %s:\n%s", e.Seq, now, e.Certificate)
			}
		}
	}
	if charged == 0 {
		t.Error("nothing was charged while catalogs changed")
	}
}

// TestStartIsNoReload: a server that starts again with a catalog that lets more be learnt needs
// its owner's word as one that runs does; with any other, and the first time, it needs none.
func TestStartIsNoReload(t *testing.T) {
	r := newReloader(t)
	from := r.groups(t)
	start := func(c *catalog.Catalog, want string) {
		t.Helper()
		e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 1, Temp: r.dir})
		if err != nil {
			t.Fatal(err)
		}
		g, err := gateway.New(t.Context(), gateway.Config{Catalog: c, Engine: e, Ledger: r.Ledger, People: r.People, Now: func() time.Time { return gatewaytest.Noon }})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		_, before, err := r.Ledger.Rules(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(g.MayBegin(t.Context()))
		if _, after, _ := r.Ledger.Rules(t.Context(), 0); after != before {
			t.Error("asking whether it may begin is on record")
		}
		began := g.Begin(t.Context())
		for _, err := range []error{err, began} {
			var d *diagnostic.Diagnostic
			if want == "" && err != nil || want != "" && (!errors.As(err, &d) || d.Code != "D219" || !strings.Contains(d.Why, want)) {
				t.Errorf("start: %v, want %q", err, want)
			}
		}
		if last, served, err := r.Ledger.LastCatalog(t.Context(), r.Ledger.CatalogName(c.Path)); err != nil || want == "" && (!last.Of(c.Digest) || !served.Of(c.Digest) || last.Accepted) || want != "" && served.Of(c.Digest) {
			t.Errorf("the last word: %+v, served %+v, %v", last, served, err)
		}
	}
	old := bounded(int(from))
	same, loose, tight := r.changed(t, "", ""), r.changed(t, old, bounded(int(from)+1)), r.changed(t, old, bounded(2))
	start(same, "")
	start(loose, "max_groups_per_unit was")
	start(same, "")
	start(tight, "")
	start(same, "max_groups_per_unit was")
	r.accept(t, same)
	start(loose, "max_groups_per_unit was") // another text was accepted
	start(same, "")
	start(tight, "")
	start(same, "max_groups_per_unit was") // the acceptance was for one change

	// Of another folder it is another catalog, though its base name is the same.
	folder := filepath.Join(r.dir, "other")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(strings.ReplaceAll(r.text, `"visits.parquet"`, `"../visits.parquet"`), `"departments.csv"`, `"../departments.csv"`)
	other, err := catalog.Parse(filepath.Join(folder, "discreet.toml"), text)
	if err != nil {
		t.Fatal(err)
	}
	if name := r.Ledger.CatalogName(other.Path); name != "other/discreet.toml" || r.Ledger.CatalogName(same.Path) != "discreet.toml" {
		t.Errorf("it is called %s", name)
	}
	for _, d := range discreet.Budgets(other) {
		if _, err := r.Ledger.Confirm(t.Context(), d, "", gatewaytest.Noon); err != nil {
			t.Fatal(err)
		}
	}
	start(other, "discreet.toml was served last, and other/discreet.toml never") // a new name is no way around it
	r.accept(t, other)
	start(other, "")
	if last, _, err := r.Ledger.LastCatalog(t.Context(), "discreet.toml"); err != nil || !last.Of(tight.Digest) {
		t.Errorf("another catalog's word counts here: %+v, %v", last, err)
	}
}

// TestStartBehindALink: a deployment that points a link to its next release changes the catalog
// and not its name, also where it is given to the server by its own path.
func TestStartBehindALink(t *testing.T) {
	r := newReloader(t)
	from := int(r.groups(t))
	point := func(release, text string) string {
		t.Helper()
		folder := filepath.Join(r.dir, "releases", release)
		link := filepath.Join(r.dir, "current")
		err := os.MkdirAll(folder, 0o700)
		if err := errors.Join(err, os.WriteFile(filepath.Join(folder, "discreet.toml"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.Symlink(folder, link); err != nil {
			t.Skipf("no links here: %v", err)
		}
		return filepath.Join(link, "discreet.toml")
	}
	text := strings.NewReplacer(`"visits.parquet"`, `"../visits.parquet"`, `"departments.csv"`, `"../departments.csv"`).Replace(r.text)
	start := func(path, text string) error {
		t.Helper()
		c, err := catalog.Parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range discreet.Budgets(c) {
			if _, err := r.Ledger.Confirm(t.Context(), d, "", gatewaytest.Noon); err != nil {
				t.Fatal(err)
			}
		}
		e, err := duckdb.Open(t.Context(), c, duckdb.Options{Threads: 1, Temp: r.dir})
		if err != nil {
			t.Fatal(err)
		}
		g, err := gateway.New(t.Context(), gateway.Config{Catalog: c, Engine: e, Ledger: r.Ledger, People: r.People, Now: func() time.Time { return gatewaytest.Noon }})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		return g.Begin(t.Context())
	}
	path := point("41", text)
	if name := r.Ledger.CatalogName(path); name != "current/discreet.toml" {
		t.Errorf("it is called %s", name)
	}
	c, err := catalog.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	r.accept(t, c) // the sources are written otherwise than in the one that was served
	if err := start(path, text); err != nil {
		t.Fatal(err)
	}
	loose := strings.Replace(text, bounded(from), bounded(from+1), 1)
	tight := strings.Replace(text, bounded(from), bounded(2), 1)
	if err := start(point("42", tight), tight); err != nil {
		t.Errorf("a stricter release: %v", err)
	}
	for _, release := range []string{"43", "44"} {
		var d *diagnostic.Diagnostic
		if err := start(point(release, loose), loose); !errors.As(err, &d) || d.Code != "D219" {
			t.Errorf("release %s is looser: %v", release, err)
		}
	}
	elsewhere := filepath.Join(r.dir, "elsewhere", "discreet.toml")
	if err := os.Mkdir(filepath.Dir(elsewhere), 0o700); err != nil {
		t.Fatal(err)
	}
	var d *diagnostic.Diagnostic
	if err := start(elsewhere, loose); !errors.As(err, &d) || d.Code != "D219" {
		t.Errorf("a looser one of another name: %v", err)
	}
	if err := start(elsewhere, tight); err != nil {
		t.Errorf("the same of another name: %v", err)
	}
}

// TestReloadToWhatAnotherServes: what was planned by the catalog before is not charged after a
// reload, also where another server has said already that it serves the text.
func TestReloadToWhatAnotherServes(t *testing.T) {
	for _, known := range []bool{true, false} {
		r := newReloader(t)
		who := olga
		if known {
			who = asker(t, r.World, "olga")
		}
		tight := r.changed(t, bounded(int(r.groups(t))), bounded(2))
		if err := r.Ledger.SayCatalog(t.Context(), "another server", gatewaytest.Noon, ledger.CatalogWord{Catalog: "discreet.toml", Digest: tight.Digest, Text: tight.Text}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Query(t.Context(), who, grouped, rho(t, "0.001")); err != nil { // whoever asks has seen that word
			t.Fatal(err)
		}
		_, before, err := r.Ledger.Rules(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.reload(t, tight); err != nil {
			t.Fatal(err)
		}
		if _, after, err := r.Ledger.Rules(t.Context(), 0); err != nil || after == before {
			t.Errorf("the reload is not on record: %v", err)
		}
		if err := r.reload(t, tight); err != nil {
			t.Fatal(err)
		}
	}
}
