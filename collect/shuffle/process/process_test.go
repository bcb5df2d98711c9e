package process_test

import (
	"bytes"
	"context"
	"crypto/hpke"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
)

func TestMain(m *testing.M) { clustertest.Main(m, process.Profile()) }

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// A study is a cluster with enrolled respondents, whose envelopes are ready.
type study struct {
	t         testing.TB
	c         *cluster.Cluster
	owner     *cluster.Station
	people    *process.Respondents
	codes     []string
	envelopes [][]byte
	ctx       context.Context
}

// begin starts a cluster and prepares the bundles of n respondents, who have the answers 0, 1,
// ... in turn, or those of answer.
func begin(t testing.TB, n int, given cluster.Settings, route func(from, to, address string) (string, error), answer func(i int) process.Answer) *study {
	t.Helper()
	s := &study{t: t, c: clustertest.Up(t, process.Profile(), given, route)}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	s.ctx = ctx
	s.owner = clustertest.Member(t, s.c, process.Owner)
	s.codes = must(process.NewCodes(n))
	if err := process.Enrol(ctx, s.owner, s.codes); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.people, err = process.NewRespondents(ctx, clustertest.Member(t, s.c, process.Client)); err != nil {
		t.Fatal(err)
	}
	answers := make([]process.Answer, n)
	for i := range answers {
		answers[i] = process.Answer{Answer: i % 4}
		if answer != nil {
			answers[i] = answer(i)
		}
		answers[i].Code = s.codes[i]
	}
	if s.envelopes, err = s.people.Prepare(ctx, answers); err != nil {
		t.Fatal(err)
	}
	return s
}

// results waits until the analyzer has so many respondents.
func (s *study) results(want int64) *process.Result {
	s.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		r, err := process.Results(s.ctx, s.owner)
		if err == nil && r.Respondents >= want {
			return r
		}
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("the analyzer has %+v, %v; want %d respondents", r, err, want)
		case <-look.C:
		}
	}
}

func TestStudy(t *testing.T) {
	const n = 240
	s := begin(t, n, cluster.Settings{"batch": "80", "fakes": "1", "epsilon": "6"}, nil, nil)
	for from := 0; from < n; from += 80 {
		tally, err := s.people.Deliver(s.ctx, s.envelopes[from:from+80])
		if err != nil || tally.Accepted != 80 {
			t.Fatalf("delivered: %+v, %v", tally, err)
		}
	}
	r := s.results(n)
	total := int64(0)
	for _, told := range r.Told {
		total += told
	}
	if r.Respondents != n || total != 2*n || r.Bad != 0 || r.Smallest < 80 || r.Batches < 1 || r.Batches > 3 {
		t.Errorf("the analyzer has %+v", r)
	}
	// 60 of each answer. A count of 480 independent messages is off by 110 with probability
	// at most 2·exp(−2·108²/480) < 1e-20 (Hoeffding; the slope is above 0.98).
	for v, count := range r.Estimate.Counts {
		if math.Abs(count-60) > 110 {
			t.Errorf("%v have answer %d, want 60", count, v)
		}
	}
	if c := r.Certificate; c.Honest != 80 || len(c.Claims) != 2 || !(c.Claims[0].Epsilon < c.Claims[1].Epsilon) {
		t.Errorf("the certificate says %+v", c)
	}

	s.forgotten(s.envelopes[7])

	// What was delivered may be sent again, and changes nothing.
	if tally, err := s.people.Deliver(s.ctx, s.envelopes[:10]); err != nil || tally.Repeated != 10 {
		t.Errorf("sent again: %+v, %v", tally, err)
	}
	// A code has its tokens once.
	var p *cluster.Problem
	if _, err := s.people.Prepare(s.ctx, []process.Answer{{Code: s.codes[0]}}); !errors.As(err, &p) || p.Type != "tokenIssued" {
		t.Errorf("a second pair of tokens: %v", err)
	}
	if _, err := s.people.Prepare(s.ctx, []process.Answer{{Code: "nobody's"}}); !errors.As(err, &p) || p.Type != "notEnrolled" {
		t.Errorf("a code that nobody has: %v", err)
	}
	// A wrong code takes nobody else's tokens.
	more := must(process.NewCodes(2))
	if err := process.Enrol(s.ctx, s.owner, more); err != nil {
		t.Fatal(err)
	}
	if tally, err := s.people.Report(s.ctx, []process.Answer{{Code: more[0]}, {Code: "nobody's"}, {Code: more[1]}}); tally.Accepted != 2 || !errors.As(err, &p) || p.Type != "notEnrolled" {
		t.Errorf("a wrong code among others: %+v, %v", tally, err)
	}
	if again := s.results(n); again.Respondents != n {
		t.Errorf("after repetitions the analyzer has %d respondents", again.Respondents)
	}
}

// forgotten waits until no file of the shufflers holds what was in an envelope: batches that were
// passed on leave nothing, in logs of deleted rows neither.
func (s *study) forgotten(envelope []byte) {
	s.t.Helper()
	p := s.people.Protocol()
	private := func(role string) hpke.PrivateKey {
		text := must(os.ReadFile(filepath.Join(s.c.Folder(role), "seal.key")))
		return must(shuffle.ParseKey(must(hex.DecodeString(string(text)))))
	}
	_, bundle, err := p.OpenFirst(private(process.Hop1), envelope)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _, messages, err := p.OpenLast(private(process.Hop2), bundle)
	if err != nil {
		s.t.Fatal(err)
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		var found []string
		for role, text := range map[string][]byte{process.Hop1: bundle[64:160], process.Hop2: messages[:shuffle.SealedMessage]} {
			for _, f := range must(os.ReadDir(s.c.Folder(role))) {
				// A file may go while it is looked for.
				if b, err := os.ReadFile(filepath.Join(s.c.Folder(role), f.Name())); err == nil && bytes.Contains(b, text) {
					found = append(found, role+"/"+f.Name())
				}
			}
		}
		if found == nil {
			return
		}
		select {
		case <-s.ctx.Done():
			s.t.Fatalf("a report that was passed on is in %v", found)
		case <-look.C:
		}
	}
}

// Fewer respondents than a batch wait, for good if need be.
func TestSmallBatchesWait(t *testing.T) {
	s := begin(t, 20, cluster.Settings{"batch": "20"}, nil, nil)
	if _, err := s.people.Deliver(s.ctx, s.envelopes[:19]); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{process.Hop1, process.Hop2, process.Hop1} { // a restart does not hurry
		if err := s.c.Restart(s.ctx, role); err != nil {
			t.Fatal(err)
		}
	}
	if r := s.results(0); r.Respondents != 0 {
		t.Fatalf("a batch of %d passed", r.Respondents)
	}
	if _, err := s.people.Deliver(s.ctx, s.envelopes[19:20]); err != nil {
		t.Fatal(err)
	}
	if r := s.results(20); r.Respondents != 20 {
		t.Errorf("the analyzer has %d respondents, want 20", r.Respondents)
	}
}

// A reader that gives a respondent another key than the issuer has of it is refused: it would
// know by the key who sent what it opens.
func TestReadersHaveOneKey(t *testing.T) {
	s := begin(t, 1, cluster.Settings{"batch": "20"}, nil, nil)
	if err := errors.Join(s.c.Stop(s.ctx, process.Hop2), os.Remove(filepath.Join(s.c.Folder(process.Hop2), "seal.key")), s.c.Start(s.ctx, process.Hop2)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the issuer keeps what it learned
		if _, err := process.NewRespondents(s.ctx, clustertest.Member(t, s.c, process.Client)); !errors.Is(err, process.ErrKey) {
			t.Errorf("another key of the last shuffler: %v", err)
		}
		if err := s.c.Restart(s.ctx, process.Issuer); err != nil {
			t.Fatal(err)
		}
	}
}
