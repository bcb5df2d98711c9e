package ledger

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

// Of answers that could be averaged the few that lack least are read, and none of those that were kept in another way.
func TestFewAnswersAreReadToSharpen(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{concentrated}})
	must(l.NewVersion(ctx, "April", "", now))
	asked := func(first, second int64, keeps string) Request {
		r := sharpens(asking("ann", "q", first, second), []int64{first, second})
		r.Keeps, r.Fresh = keeps, true
		return r
	}
	for i := range int64(8) {
		l.answered(t, asked(1+i%4, 1+i/4, "rows"), fmt.Sprint("rows ", 2+i%4+i/4))
		l.answered(t, asked(4, 2, []string{"other rows", ""}[i%2]), "other")
	}
	r := asked(6, 6, "rows")
	r.Fresh = false
	var read []string
	r.Averages = func(answer []byte) bool {
		read = append(read, string(answer))
		return false
	}
	found, err := l.Free(ctx, r)
	if want := "[rows 6 rows 5 rows 5 rows 4 rows 4]"; err != nil || found != nil || fmt.Sprint(read) != want {
		t.Errorf("found %+v, %v by reading %v, not %s", found, err, read, want)
	}
	r.Keeps = ""
	if read = nil; must(l.Free(ctx, r)) != nil || read != nil {
		t.Errorf("of what is kept in no known way %v are read", read)
	}
	l.verifyOrFail(t)
}

// Programs that know no averages may write to a ledger of an older format: nothing is sharpened there.
func TestNothingIsSharpenedInOlderLedgers(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{concentrated}})
	must(l.NewVersion(ctx, "April", "", now))
	l.answered(t, sharpens(asking("ann", "q", 1, 1), []int64{1, 1}), "first")
	r := sharpens(asking("ann", "q", 2, 2), []int64{2, 2})
	if found := must(l.Free(ctx, r)); l.format != format || found == nil {
		t.Fatalf("in format %d: %+v", l.format, found)
	}
	if old := formatOne(t); old.format != 1 {
		t.Errorf("a ledger of format 1 is opened as one of format %d", old.format)
	}
	l.format = 2
	if res, err := l.Reserve(ctx, r); err != nil || res.Sharpens != nil || res.Charge.Rho.String() != "0.04" {
		t.Errorf("in format 2: %+v, %v", res, err)
	}
}

// The history says what an average serves as.
func TestPrecisionIsTold(t *testing.T) {
	l, _ := create(t, Options{Domains: []DomainBudget{concentrated}})
	must(l.NewVersion(ctx, "April", "", now))
	l.answered(t, sharpens(asking("ann", "q", 1, 2), []int64{1, 2}), "first")
	r := sharpens(asking("ann", "q", 3, 4), []int64{3, 4})
	res := l.answered(t, r, "average")
	for _, e := range must(l.History(ctx)) {
		switch p := e.Precision; {
		case e.Seq != res.ID:
			if p != nil || e.Sharpens != 0 {
				t.Errorf("record %d is no average: %+v", e.Seq, e)
			}
		case p == nil || p.Charge.Rho.String() != "0.07" || fmt.Sprint(p.Events) != fmt.Sprint(r.Events) || e.Charge.Rho.String() != "0.04":
			t.Errorf("the average is told as %+v, of precision %+v", e, p)
		}
	}
}

// However versions, charges and answers follow each other in two processes, no average is committed that could be of two versions, and
// what was charged for one that is refused stays charged.
func TestNoAverageOfTwoVersions(t *testing.T) {
	l, path := create(t, Options{Domains: []DomainBudget{concentrated}})
	other := must(Open(ctx, path, Options{}))
	defer other.Close()
	const rounds = 12
	begin := make([]chan struct{}, rounds)
	for i := range begin {
		begin[i] = make(chan struct{})
	}
	var wait sync.WaitGroup
	refused := 0
	wait.Go(func() {
		for i := range rounds {
			<-begin[i]
			must(other.NewVersion(ctx, "", "", now))
		}
	})
	must(l.NewVersion(ctx, "", "", now))
	for i := range rounds {
		first := sharpens(asking("ann", fmt.Sprint(i), 1, 1), []int64{1, 1})
		l.answered(t, first, "first")
		res := must(l.Reserve(ctx, sharpens(asking("ann", fmt.Sprint(i), 2, 2), []int64{2, 2})))
		if res.Sharpens == nil {
			t.Fatalf("round %d: %+v", i, res)
		}
		close(begin[i]) // the version comes before the answer, or at once with it
		begun := func() bool { return must(l.Version(ctx)).Record > res.ID }
		for i%3 == 0 && !begun() {
		}
		switch err := l.Commit(ctx, res, []byte("average")); {
		case errors.Is(err, ErrVersion):
			refused++
		case err != nil:
			t.Fatal(err)
		}
		for !begun() {
		}
	}
	wait.Wait()
	sharpened, version, averages := map[int64]int64{}, int64(0), 0
	for _, e := range must(l.History(ctx)) {
		switch of := sharpened[e.Reservation]; {
		case e.Kind == kindVersion:
			version = e.Seq
		case e.Kind == kindReserve && e.Sharpens > 0:
			sharpened[e.Seq] = e.Sharpens
		case e.Kind == kindCommit && of > 0:
			if averages++; version > of {
				t.Errorf("record %d is the average of two versions: of record %d, before %d, and of record %d", e.Seq, of, version, e.Reservation)
			}
		}
	}
	if spent := must(l.Balance(ctx, "patient")).Spent.Rho.String(); averages+refused != rounds || refused < rounds/3 || spent != "0.48" {
		t.Errorf("%d averages and %d refusals; spent %s", averages, refused, spent)
	}
	t.Logf("%d of %d averages were refused", refused, rounds)
	l.verifyOrFail(t)
}
