package process_test

import (
	"bytes"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
)

// Shufflers and the analyzer are killed at random while reports come in, and connections are
// cut after a request was served and before its answer arrives. In the end every report has
// been counted, once: with ε₀ = 40 an answer is told as it is but with probability 4·e^-40, so
// that the counts are known.
func TestKillsLoseAndDoubleNothing(t *testing.T) {
	const n, batch = 320, 40
	var proxies []*clustertest.Proxy
	s := begin(t, n, cluster.Settings{"batch": "40", "epsilon": "40"}, func(from, to, address string) (string, error) {
		if to == process.Issuer || from == process.Issuer || from == process.Owner || to == process.Analyzer && from == process.Client {
			return address, nil
		}
		p := clustertest.NewProxy(t, address)
		proxies = append(proxies, p)
		return p.Address(), nil
	}, nil)
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano()))) // when to kill
	for from := 0; from < n; from += batch {
		delivered := make(chan error, 1)
		go func() {
			_, err := s.people.Deliver(s.ctx, s.envelopes[from:from+batch])
			delivered <- err
		}()
		// A request to an idle shuffler takes some 30 ms here, and a batch no longer.
		<-time.After(time.Duration(random.IntN(60)) * time.Millisecond)
		p := proxies[random.IntN(len(proxies))]
		p.CutAfter(int64(random.IntN(6000)))
		role := []string{process.Hop1, process.Hop2, process.Analyzer}[random.IntN(3)]
		if err := errors.Join(s.c.Kill(s.ctx, role), s.c.Start(s.ctx, role)); err != nil {
			t.Fatal(err)
		}
		p.Mend()
		if err := <-delivered; err != nil {
			t.Fatal(err)
		}
	}
	r := s.results(n)
	if !slices.Equal(r.Told, []int64{n / 4, n / 4, n / 4, n / 4}) || r.Respondents != n || r.Smallest < batch || r.Bad != 0 {
		t.Errorf("the analyzer has %+v", r)
	}
}

// The receiver has stored what it was sent, and its answer is lost: the sender sends the same
// again, also after it was killed, and the receiver counts it once.
func TestLostAnswers(t *testing.T) {
	const n, batch = 240, 20
	links := map[string]*clustertest.Proxy{}
	s := begin(t, n, cluster.Settings{"batch": "20", "epsilon": "40"}, func(from, to, address string) (string, error) {
		if to == process.Issuer || from == process.Issuer || from == process.Owner || to != process.Hop1 && from == process.Client {
			return address, nil
		}
		links[to] = clustertest.NewProxy(t, address)
		return links[to].Address(), nil
	}, nil)
	sent := 0
	deliver := func() chan error {
		some, done := s.envelopes[sent:sent+batch], make(chan error, 1)
		sent += batch
		go func() {
			_, err := s.people.Deliver(s.ctx, some)
			done <- err
		}()
		return done
	}
	// acknowledged waits until a shuffler knows that so many batches have arrived.
	acknowledged := func(role string, batches int) {
		t.Helper()
		look := time.NewTicker(50 * time.Millisecond)
		defer look.Stop()
		for {
			log, err := os.ReadFile(filepath.Join(s.c.Folder(role), "log"))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Count(log, []byte("passed on a batch")) >= batches {
				return
			}
			select {
			case <-s.ctx.Done():
				t.Fatalf("%s did not pass on %d batches:\n%s", role, batches, log)
			case <-look.C:
			}
		}
	}
	for _, link := range []struct{ sender, receiver string }{{"", process.Hop1}, {process.Hop1, process.Hop2}, {process.Hop2, process.Analyzer}} {
		for _, kill := range []bool{false, true} {
			if err := <-deliver(); err != nil { // which connects
				t.Fatal(err)
			}
			s.results(int64(sent))
			if link.sender != "" { // or the answer to this batch is lost too, for which the next one waits
				acknowledged(link.sender, sent/batch)
			}
			links[link.receiver].Mute()
			delivered := deliver()
			s.results(int64(sent)) // the analyzer has them, and the sender does not know
			kill := kill && link.sender != ""
			if kill {
				if err := s.c.Kill(s.ctx, link.sender); err != nil {
					t.Fatal(err)
				}
			}
			links[link.receiver].Cut()
			links[link.receiver].Mend()
			if kill {
				if err := s.c.Start(s.ctx, link.sender); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-delivered; err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, role := range []string{process.Hop1, process.Hop2} { // nothing is on its way any more
		acknowledged(role, n/batch)
	}
	if r := s.results(n); !slices.Equal(r.Told, []int64{n / 4, n / 4, n / 4, n / 4}) || r.Respondents != n || r.Bad != 0 {
		t.Errorf("the analyzer has %+v", r)
	}
}

// What one role is told appears nowhere else: a code that the client has, the crowd that the
// last shuffler reads, what the first shuffler opens, in files, logs, traffic and the memory of
// processes, where nobody has another's key either.
func TestCanaries(t *testing.T) {
	const n, crowd = 60, 0x43414e4152593437 // "CANARY47"
	traffic := map[string]*clustertest.Proxy{}
	s := begin(t, n, cluster.Settings{"batch": "30", "crowd-threshold": "2", "crowd-delta": "0.1", "crowd-epsilon": "8"}, func(from, to, address string) (string, error) {
		p := clustertest.NewProxy(t, address)
		p.Keep = true
		traffic[from+" to "+to] = p
		return p.Address(), nil
	}, func(int) process.Answer { return process.Answer{Answer: 1, Crowd: crowd} })
	// The last shuffler waits for more than a batch: noise withholds some of the crowd.
	for _, some := range [][][]byte{s.envelopes[:30], s.envelopes[30:]} {
		if _, err := s.people.Deliver(s.ctx, some); err != nil {
			t.Fatal(err)
		}
	}
	r := s.results(30)
	if r.Respondents > n {
		t.Errorf("%d respondents of %d", r.Respondents, n)
	}

	canaries := map[string][]byte{
		"a code":      []byte(s.codes[7]),
		"the crowd":   binary.BigEndian.AppendUint64(nil, crowd),
		"an envelope": s.envelopes[7][64:160],
	}
	mayHave := map[string][]string{"the crowd": {process.Hop2}}
	seen := 0
	err := filepath.WalkDir(s.c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		role := filepath.Base(filepath.Dir(path))
		for name, canary := range canaries {
			if bytes.Contains(text, canary) && !slices.Contains(mayHave[name], role) {
				t.Errorf("%s is in %s of %s", name, filepath.Base(path), role)
			}
		}
		return err
	})
	if err != nil || seen < 20 {
		t.Fatal(seen, err)
	}
	for link, p := range traffic {
		for name, canary := range canaries {
			if bytes.Contains(p.Seen(), canary) {
				t.Errorf("%s passes from %s in the clear", name, link)
			}
		}
	}
	if len(traffic["client to hop-1"].Seen()) < n*700 {
		t.Error("the proxies saw no traffic")
	}
	s.memories(canaries, map[string][]string{"a code": {process.Issuer}, "the crowd": {process.Hop2}, "an envelope": {process.Hop1}})

	// The search finds what is there: the first shuffler's key, in its own folder.
	if key, err := os.ReadFile(filepath.Join(s.c.Folder(process.Hop1), "seal.key")); err != nil || len(key) < 32 {
		t.Error(err)
	}
}

// memories reads the memory of all roles.
func (s *study) memories(canaries map[string][]byte, mayHave map[string][]string) {
	s.t.Helper()
	all, err := s.c.Status(s.ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	backwards := slices.Clone(canaries["the crowd"])
	slices.Reverse(backwards) // as a processor stores it
	canaries["the crowd's number"], mayHave["the crowd's number"] = backwards, mayHave["the crowd"]
	for _, role := range []string{process.Hop1, process.Hop2, process.Analyzer} {
		key, err := os.ReadFile(filepath.Join(s.c.Folder(role), "seal.key"))
		if err != nil {
			s.t.Fatal(err)
		}
		canaries["the key of "+role], mayHave["the key of "+role] = key, []string{role}
	}
	for _, role := range all {
		memory := clustertest.Memory(s.t, role.PID)
		for name, canary := range canaries {
			if bytes.Contains(memory, canary) && !slices.Contains(mayHave[name], role.Role) {
				s.t.Errorf("%s is in the memory of %s", name, role.Role)
			}
		}
		// The search finds what is there: what the role presents to others.
		text, err := os.ReadFile(filepath.Join(s.c.Folder(role.Role), "cert.pem"))
		if err != nil {
			s.t.Fatal(err)
		}
		if block, _ := pem.Decode(text); block == nil || !bytes.Contains(memory, block.Bytes) {
			s.t.Errorf("the memory of %s, %d bytes, has not its own certificate", role.Role, len(memory))
		}
	}
}
