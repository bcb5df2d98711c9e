//go:build cgo

package multiparty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/internal/custody"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/privacy"
)

// A post is what a role of these tests is told.
type post struct {
	Cast   Cast
	Rows   []string
	Budget string
}

// federationProfile is a federation of processes: three parties, and a holder for each list of
// rows. Holders make their data when they start first.
func federationProfile(budget string, rows ...[]string) cluster.Profile {
	return cluster.Profile{Name: "multiparty", Short: "holders and parties",
		Members: func(cluster.Settings) (all []cluster.Member, err error) {
			cast := Cast{Parties: []string{"p1", "p2", "p3"}, Askers: []string{"anna"}}
			for i := range rows {
				cast.Holders = append(cast.Holders, fmt.Sprintf("h%d", i+1))
			}
			for _, name := range cast.Parties {
				all = append(all, cluster.Member{Name: name, Kind: "party", Config: post{Cast: cast}})
			}
			for i, name := range cast.Holders {
				all = append(all, cluster.Member{Name: name, Kind: "holder", Peers: cast.Parties, Config: post{cast, rows[i], budget}})
			}
			return append(all, cluster.Member{Name: "anna", Peers: append(slices.Clone(cast.Holders), cast.Parties...), Config: post{Cast: cast}}), nil
		},
		Roles: map[string]cluster.Role{"holder": runHolder, "party": func(ctx context.Context, s *cluster.Station) error {
			var p post
			if err := s.Decode(&p); err != nil {
				return err
			}
			return RunParty(ctx, s, p.Cast)
		}}}
}

func TestMain(m *testing.M) { clustertest.Main(m, federationProfile("1")) }

func runHolder(ctx context.Context, s *cluster.Station) error {
	var p post
	if err := s.Decode(&p); err != nil {
		return err
	}
	if err := furnish(ctx, s.Dir, p); err != nil {
		return err
	}
	f, id, err := AtStation(s, p.Cast)
	if err != nil {
		return err
	}
	h, _, _, err := openHolder(ctx, filepath.Dir(s.Dir), filepath.Base(s.Dir), f, id, s.Now, s.Log)
	if err != nil {
		return err
	}
	return s.Serve(ctx, h.Handler())
}

// furnish gives a holder catalog, data and ledger, if it has none.
func furnish(ctx context.Context, dir string, p post) error {
	path := filepath.Join(dir, "discreet.toml")
	if _, err := os.Stat(filepath.Join(dir, "discreet.ledger")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text := strings.NewReplacer("MEASURE", "pure", "EPSILON", p.Budget).Replace(commonCatalog)
	if err := errors.Join(custody.Write(path, []byte(text)),
		custody.Write(filepath.Join(dir, "visits.csv"), []byte("patient,ward,age,cost,free\n"+strings.Join(p.Rows, "\n")+"\n"))); err != nil {
		return err
	}
	c, err := catalog.Load(path)
	if err != nil {
		return err
	}
	l, err := ledger.Create(ctx, filepath.Join(dir, "discreet.ledger"), ledger.Options{Domains: discreet.Budgets(c), Now: time.Now()})
	if err != nil {
		return err
	}
	return l.Close()
}

// askAt asks as the asker of a cluster.
func askAt(t *testing.T, c *cluster.Cluster, text, epsilon string, patience time.Duration) (*Answer, error) {
	t.Helper()
	s := clustertest.Member(t, c, "anna")
	var p post
	if err := s.Decode(&p); err != nil {
		t.Fatal(err)
	}
	f, id, err := AtStation(s, p.Cast)
	if err != nil {
		t.Fatal(err)
	}
	e, err := privacy.ParseEpsilon(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	statement, err := NewStatement(text, &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: e}})
	if err != nil {
		t.Fatal(err)
	}
	return Ask(t.Context(), AskOptions{Federation: f, Identity: id, Now: time.Now, Patience: patience, Wait: pause}, statement)
}

// Holders and parties are killed by signal 9 while they work, and started again. Every answer
// there is is right, at most ten are there, and no holder has spent less than was answered.
func TestMembersAreKilled(t *testing.T) {
	c := clustertest.Up(t, federationProfile("10000", patients(0, 20), patients(99, 11)), nil, nil)
	const epsilon = 1000
	members := []string{"h1", "p1", "h2", "p2", "p3"}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		killed := 0
		defer func() { ended <- killed }()
		for {
			name := members[rand.IntN(len(members))]
			if pause(ctx, time.Duration(rand.IntN(120))*time.Millisecond) != nil {
				return
			}
			if err := c.Kill(t.Context(), name); err != nil {
				t.Error(err)
				return
			}
			killed++
			if err := c.Restart(t.Context(), name); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	answered := 0
	for range 14 {
		a, err := askAt(t, c, countAll, fmt.Sprint(epsilon), 3*time.Second)
		if err != nil {
			continue
		}
		answered++
		if a.Rows[0][0] != int64(31) {
			t.Errorf("the answer is %v, want 31", a.Rows[0][0])
		}
	}
	stop()
	killed := <-ended
	if err := c.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"h1", "h2"} {
		l, err := ledger.Open(t.Context(), filepath.Join(c.Folder(name), "discreet.ledger"), ledger.Options{Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Verify(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		b, err := l.Balance(t.Context(), "patient")
		if err != nil {
			t.Fatal(err)
		}
		spent := b.Spent.Epsilon.Float64()
		if spent < float64(answered*epsilon) || spent > 10*epsilon {
			t.Errorf("%s has spent %v for %d answers of %d", name, spent, answered, epsilon)
		}
	}
	if answered > 10 || killed == 0 {
		t.Errorf("%d answers of a budget for ten, %d killed", answered, killed)
	}
	t.Logf("%d answers, %d processes killed", answered, killed)
}

// canary is a text that is nowhere else.
const canary = "canary-6d0b51f7"

// What one holder has is in no other member's files, logs or memory: not its rows, and not its
// exact sums, as text or in bytes.
func TestCanaries(t *testing.T) {
	rows := append([]string{"7,a,50,33.141592653589793," + canary}, patients(100, 20)...)
	c := clustertest.Up(t, federationProfile("100", rows, patients(500, 9)), nil, nil)
	for range 2 {
		if _, err := askAt(t, c, "SELECT sum(cost) FROM visits", "1", 10*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	// The exact sum at h1 is so many steps of 2^-55.
	exact := new(big.Rat)
	for _, row := range rows {
		f, err := strconv.ParseFloat(strings.Split(row, ",")[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		exact.Add(exact, new(big.Rat).SetFloat64(f))
	}
	exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 55)))
	if !exact.IsInt() {
		t.Fatalf("%v is no number of steps", exact)
	}
	number := exact.Num().FillBytes(make([]byte, 16))
	slices.Reverse(number) // as an element of the ring begins
	needles := [][]byte{[]byte("," + canary), number, []byte(exact.Num().String())}
	holds := func(data []byte) bool {
		for _, n := range needles {
			if bytes.Contains(data, n) {
				return true
			}
		}
		return false
	}
	found := false
	states, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		err := filepath.WalkDir(c.Folder(s.Role), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if holds(data) {
				if found = true; s.Role != "h1" {
					t.Errorf("%s holds what h1 alone has", path)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if s.Role == "h1" {
			continue
		}
		if has, _ := remembers(t, s.PID, needles); has {
			t.Errorf("the memory of %s holds what h1 alone has", s.Role)
		}
	}
	if !found {
		t.Error("the canary is nowhere: this tests nothing")
	}
	if has, read := remembers(t, os.Getpid(), needles); read && !has {
		t.Error("the memory of this process does not hold the canary that is in it: this tests nothing")
	}
	runtime.KeepAlive(needles)
}

// remembers reports whether a process has one of the needles in its memory, and whether that
// could be read.
func remembers(t *testing.T, pid int, needles [][]byte) (found, read bool) {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Logf("the memory of processes cannot be read here: %v", err)
		return false, false
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Logf("the memory of processes cannot be read here: %v", err)
		return false, false
	}
	defer mem.Close()
	const size, overlap = 1 << 20, 64
	part := make([]byte, size+overlap)
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var mode string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); n != 3 || !strings.HasPrefix(mode, "rw") {
			continue
		}
		for at := from; at < to; at += size {
			n, _ := mem.ReadAt(part[:min(size+overlap, to-at)], at)
			read = read || n > 0
			if slices.ContainsFunc(needles, func(x []byte) bool { return bytes.Contains(part[:n], x) }) {
				return true, true
			}
		}
	}
	return false, read
}
