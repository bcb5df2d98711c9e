//go:build cgo

package discreet

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/release"
)

// How many groups of stored answers are looked at is bounded for a whole statement: none where the noise alone says that they do not serve,
// none a second time where they did not, and of twenty answers with seven releases each no more than mostLooked.
func TestMadeLooksAtFewGroups(t *testing.T) {
	const groups = 12_000
	w := shelve(t, "zcdp", `n = { type = "integer", lower = 0, upper = 4, step = 1 }`, `n = { type = "integer", lower = 0, upper = 1999, step = 1 }`,
		"max_groups_per_unit = 3", "max_groups_per_unit = 12000")
	w.version()
	statement := func(sql, cost string) *Statement {
		t.Helper()
		s, err := w.plan(t.Context(), sql, w.at(cost))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	looked := func(s *Statement) (groups int64, ways int) {
		t.Helper()
		before := s.looked.Load()
		all, err := s.makes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.looked.Load() - before, len(all)
	}
	reserve := func(sql, cost string) { // as one whose answer is still computed
		t.Helper()
		if _, err := w.config.Ledger.Reserve(t.Context(), statement(sql, cost).Request(Payer{})); err != nil {
			t.Fatal(err)
		}
	}
	reserve("SELECT k, s, n, count(*) FROM t WHERE w > 1 GROUP BY k, s, n", "0.2")
	few := statement("SELECT k, count(*) FROM t WHERE w > 1 AND s = 'F' AND n IN (1, 2) GROUP BY k", "0.00001")
	if n, ways := looked(few); n != groups || ways != 1 {
		t.Errorf("%d groups are looked at, in %d ways", n, ways)
	}
	few = statement("SELECT k, count(*) FROM t WHERE w > 1 AND s = 'F' AND n IN (1, 2) GROUP BY k", "0.000035") // two noises are wider
	if n, ways := looked(few); n != groups || ways != 0 {
		t.Errorf("%d groups are looked at, in %d ways, where there is none", n, ways)
	}
	if n, ways := looked(few); n != 0 || ways != 0 {
		t.Errorf("%d groups are looked at again, in %d ways", n, ways)
	}
	const releases, sums = 7, 3
	fine := func(i int) string {
		var parts []string
		for j := range releases {
			all := []string{fmt.Sprintf("sum(x + %d)", 1000*i+100+j)}
			for k := range sums {
				all = append(all, fmt.Sprintf("sum(x + %d)", k))
			}
			parts = append(parts, fmt.Sprintf("(SELECT sum(c) FROM (SELECT k, s, n, %s AS c FROM t GROUP BY k, s, n) AS q)", strings.Join(all, " + ")))
		}
		return "SELECT " + strings.Join(parts, ", ")
	}
	coarse := "SELECT "
	for i := range releases {
		coarse += fmt.Sprintf("%s(SELECT sum(c) FROM (SELECT %s, sum(x + %d) AS c FROM t WHERE k IN ('a', 'b', 'c') AND s IN ('F', 'M') AND n IN (1, 2, 3) GROUP BY 1) AS q)", map[bool]string{false: ", "}[i == 0], []string{"k", "s", "n"}[i%3], i/3)
	}
	for i := range mostTried {
		reserve(fine(i), "0.01")
	}
	if n, ways := looked(statement(coarse, "1")); n != 0 || ways != 0 {
		t.Errorf("%d groups are looked at that are not precise, in %d ways", n, ways)
	}
	start := processorTime()
	n, ways := looked(statement(coarse, ""))
	if n > mostLooked || n < mostLooked-groups || ways == 0 {
		t.Errorf("%d groups are looked at, in %d ways", n, ways)
	}
	t.Logf("%d groups in %v of processor time, with %d statements planned", n, processorTime()-start, mostTried)
}

// Which groups are picked is found once for releases that pick alike, and anew for others.
func TestMadePicksAlike(t *testing.T) {
	w := shelve(t, "zcdp")
	one := func(sql string) *release.Comparable {
		return must(w.plan(t.Context(), sql, w.at("0.1"))).releases[0]
	}
	asked := one("SELECT k, count(*) FROM t WHERE s = 'F' GROUP BY k")
	picked := release.Remake(asked, one("SELECT k, s, count(*), sum(x) FROM t GROUP BY k, s"))
	if !picked.Group() || picked.Most != 1 {
		t.Fatalf("%+v", picked)
	}
	if x := release.Remake(asked, one("SELECT k, s, count(*) FROM t GROUP BY k, s")); !x.GroupAs(picked) || x.Most != 1 {
		t.Errorf("the same groups are not picked: %+v", x)
	}
	if x := release.Remake(asked, one("SELECT k, s, count(*) FROM t WHERE s = 'F' GROUP BY k, s")); x.GroupAs(picked) {
		t.Errorf("other groups are picked: %+v", x)
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // 0 where it fails
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkMade compares the processor time of statements over one relation: charged without a version, and with one, where each is held
// against twenty before it that do not serve, and its noisy numbers are stored; and made of one of these.
func BenchmarkMade(b *testing.B) {
	const fine, coarse = "SELECT k, s, count(*), sum(x), avg(x) FROM t WHERE x > %d AND n < %d GROUP BY k, s", "SELECT k, count(*) FROM t WHERE x > %d AND n < %d GROUP BY k"
	run := func(name string, version, made bool) {
		b.Run(name, func(b *testing.B) {
			w, next := shelve(b, "zcdp"), 0
			if version {
				w.version()
			}
			ask := func(sql string, i int, cost string) {
				if a, err := w.Query(b.Context(), fmt.Sprintf(sql, i%9, i), w.at(cost)); err != nil || a.Reused != (cost == "") {
					b.Fatal(err)
				}
			}
			for ; next < 25; next++ {
				ask(fine, next, "0.001")
			}
			start := processorTime()
			for b.Loop() {
				if made {
					ask(coarse, 10+next%15, "")
				} else {
					ask(fine, next, "0.001")
				}
				next++
			}
			b.ReportMetric(float64((processorTime()-start).Microseconds())/1000/float64(b.N), "cpu-ms/op")
		})
	}
	run("charged", false, false)
	run("charged with a version", true, false)
	run("made", true, true)
}
