//go:build cgo

package multiparty

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/store"
)

// A made task, with which a test plays the asker by hand.
type made struct {
	*Task
	data []byte
	hash string
}

const countAll = "SELECT count(*) AS n FROM visits"

// task is a task with true offers, that change may change.
func (w *world) task(text string, change ...func(*Task)) made {
	w.Helper()
	a := &asking{AskOptions: AskOptions{Federation: w.federation, Identity: w.identity("anna"), Now: time.Now, Wait: pause}, holders: w.federation.Holders, self: w.federation.Askers[0]}
	t, err := a.task(w.Context(), w.statement(text, "1000"))
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range change {
		f(t)
	}
	data := encode(w, t)
	return made{t, data, digest(data)}
}

// as sends a message as a member, and returns the name of the problem, "" for none.
func (w *world) as(name string, to Member, method, path string, message []byte) (string, []byte) {
	w.Helper()
	answer, err := call(w.Context(), w.identity(name), to, method, path, message)
	var p *Problem
	if errors.As(err, &p) {
		return p.Name(), nil
	}
	if err != nil {
		return err.Error(), nil
	}
	return "", answer
}

func (w *world) expect(what, want, got string) {
	w.Helper()
	if got != want {
		w.Errorf("%s: %q, want %q", what, got, want)
	}
}

// Everything that a member may be sent and should not take.
func TestMessagesAreRefused(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3), patients(9, 3)}, parties: 2}).run()
	h1, p1 := w.federation.Holders[0], w.federation.Parties[0]
	m := w.task(countAll)
	changed := func(f func(*Task)) made { return w.task(countAll, f) }
	late := w.now
	tasks := map[string]struct {
		made
		want string
	}{
		"another version":                {changed(func(t *Task) { t.Version = "discreet-federation-0" }), taskMismatch},
		"no id":                          {changed(func(t *Task) { t.ID = "" }), invalidMessage},
		"no holder":                      {changed(func(t *Task) { t.Holders = nil }), invalidMessage},
		"a time that is over":            {changed(func(t *Task) { t.Expires = late().Add(-time.Second) }), taskExpired},
		"a time that is far":             {changed(func(t *Task) { t.Expires = late().Add(3 * MaxLife) }), taskTooEarly},
		"another asker":                  {changed(func(t *Task) { t.Asker, t.AskerKey = "bob", w.federation.Askers[1].Key }), unauthorized},
		"a stranger":                     {changed(func(t *Task) { t.Asker = "eve" }), unauthorized},
		"fewer parties":                  {changed(func(t *Task) { t.Parties = t.Parties[:1] }), taskMismatch},
		"a party with another key":       {changed(func(t *Task) { t.Parties[1].Key = strings.Repeat("0", 64) }), taskMismatch},
		"one party twice":                {changed(func(t *Task) { t.Parties[1] = t.Parties[0] }), taskMismatch},
		"one holder twice":               {changed(func(t *Task) { t.Holders[1] = t.Holders[0] }), taskMismatch},
		"a holder's offer made smaller":  {changed(func(t *Task) { t.Holders[0].Offer.Releases[0].Components[0].PerGroup = "1" }), taskMismatch},
		"units that lie at one alone":    {changed(func(t *Task) { t.Holders[0].Offer.Elsewhere = true }), taskMismatch},
		"a task for others":              {changed(func(t *Task) { t.Holders = t.Holders[1:] }), taskMismatch},
		"another statement than offered": {changed(func(t *Task) { t.Statement.Text = "SELECT sum(age) FROM visits" }), taskMismatch},
		"a confidence of 1":              {changed(func(t *Task) { t.Statement.Confidence = 1 }), invalidMessage},
		"no cost":                        {changed(func(t *Task) { t.Statement.Epsilon = discreet.QueryOptions{}.Spend.Epsilon }), refused},
	}
	for name, c := range tasks {
		got, _ := w.as("anna", h1, http.MethodPut, "/tasks/"+c.hash, c.data)
		w.expect(name, c.want, got)
	}
	for name, c := range map[string]struct{ as, path, want string }{
		"another digest":        {"anna", "/tasks/" + strings.Repeat("0", 64), taskMismatch},
		"a holder asks":         {"h2", "/tasks/" + m.hash, unauthorized},
		"a party asks":          {"p1", "/tasks/" + m.hash, unauthorized},
		"bob sends anna's task": {"bob", "/tasks/" + m.hash, unauthorized},
	} {
		got, _ := w.as(c.as, h1, http.MethodPut, c.path, m.data)
		w.expect(name, c.want, got)
	}
	for _, data := range [][]byte{nil, []byte("{"), append(slices.Clone(m.data), '{'), bytes.Replace(m.data, []byte(`"id"`), []byte(`"di"`), 1)} {
		got, _ := w.as("anna", h1, http.MethodPut, "/tasks/"+digest(data), data)
		w.expect("a damaged task", invalidMessage, got)
	}
	for i := range w.holders {
		if w.spent(i) != 0 {
			t.Errorf("holder %d was charged %v for what it refused", i, w.spent(i))
		}
	}

	// Shares. A true one is made of a true demand.
	d := demand{Bits: 192, Noise: []discreet.PartyNoise{{Distribution: "discrete_laplace", Parameter: "3/1000", Values: 1}}}
	var mark []byte
	share := func(f func(*shareMessage)) []byte {
		s := shareMessage{Task: m.data, Bits: d.Bits, Noise: slices.Clone(d.Noise), Share: make([]byte, 24), Mark: mark}
		if f != nil {
			f(&s)
		}
		return encode(t, s)
	}
	path := "/tasks/" + m.hash + "/share"
	for name, c := range map[string]struct {
		as   string
		data []byte
		want string
	}{
		"a share of an asker":    {"anna", share(nil), unauthorized},
		"a share of a party":     {"p2", share(nil), unauthorized},
		"a share of nothing":     {"h1", nil, invalidMessage},
		"a share that is cut":    {"h1", share(nil)[:100], invalidMessage},
		"a share of no task":     {"h1", share(func(s *shareMessage) { s.Task = nil }), taskMismatch},
		"a short share":          {"h1", share(func(s *shareMessage) { s.Share = s.Share[:8] }), invalidMessage},
		"a long share":           {"h1", share(func(s *shareMessage) { s.Share = make([]byte, 48) }), invalidMessage},
		"no noise":               {"h1", share(func(s *shareMessage) { s.Noise = nil; s.Share = nil }), invalidMessage},
		"noise of scale 0":       {"h1", share(func(s *shareMessage) { s.Noise[0].Parameter = "0" }), invalidMessage},
		"noise of a minus scale": {"h1", share(func(s *shareMessage) { s.Noise[0].Parameter = "-1" }), invalidMessage},
		"noise of no law":        {"h1", share(func(s *shareMessage) { s.Noise[0].Distribution = "none" }), invalidMessage},
		"noise of 1e999999999":   {"h1", share(func(s *shareMessage) { s.Noise[0].Parameter = "1e999999999" }), invalidMessage},
		"a ring of 65 bits":      {"h1", share(func(s *shareMessage) { s.Bits = 65 }), invalidMessage},
		"a minus ring":           {"h1", share(func(s *shareMessage) { s.Bits = -64 }), invalidMessage},
		"a ring of a million":    {"h1", share(func(s *shareMessage) { s.Bits = 64e6 }), invalidMessage},
		"minus one value":        {"h1", share(func(s *shareMessage) { s.Noise[0].Values = -1 }), invalidMessage},
	} {
		got, _ := w.as(c.as, p1, http.MethodPut, path, c.data)
		w.expect(name, c.want, got)
	}
	got, _ := w.as("anna", p1, http.MethodGet, "/tasks/"+m.hash+"/sum", nil)
	w.expect("the sum of no shares", unrecognizedTask, got)

	// The noise is drawn once, for holders of the task, before any share is taken.
	got, _ = w.as("h1", p1, http.MethodPut, path, share(nil))
	w.expect("a share before its noise", partyRestored, got)
	drawNoise := func(as string, f func(*noiseMessage)) (string, []byte) {
		n := noiseMessage{m.data, d.Bits, slices.Clone(d.Noise)}
		if f != nil {
			f(&n)
		}
		got, answer := w.as(as, p1, http.MethodPut, "/tasks/"+m.hash+"/noise", encode(t, n))
		var said drawn
		if got == "" {
			if err := strict(answer, &said); err != nil {
				t.Fatal(err)
			}
		}
		return got, said.Mark
	}
	for name, c := range map[string]struct {
		as   string
		f    func(*noiseMessage)
		want string
	}{
		"noise for an asker":  {"anna", nil, unauthorized},
		"noise of no task":    {"h1", func(n *noiseMessage) { n.Task = nil }, taskMismatch},
		"no noise":            {"h1", func(n *noiseMessage) { n.Noise = nil }, invalidMessage},
		"noise in 101 shares": {"h1", func(n *noiseMessage) { n.Noise[0].Shares = 101 }, invalidMessage},
		"noise in one share":  {"h1", func(n *noiseMessage) { n.Noise[0].Shares = 1 }, invalidMessage},
		"noise of scale 0":    {"h1", func(n *noiseMessage) { n.Noise[0].Parameter = "0" }, invalidMessage},
	} {
		got, _ := drawNoise(c.as, c.f)
		w.expect(name, c.want, got)
	}
	if got, mark = drawNoise("h1", nil); got != "" || len(mark) != 16 {
		t.Fatalf("the noise: %q, %x", got, mark)
	}
	if got, again := drawNoise("h2", nil); got != "" || !bytes.Equal(again, mark) {
		t.Errorf("the noise again: %q, %x, was %x", got, again, mark)
	}
	got, _ = drawNoise("h2", func(n *noiseMessage) { n.Noise[0].Parameter = "1/1000" })
	w.expect("less noise", noiseDiffers, got)
	got, _ = w.as("h1", p1, http.MethodPut, path, share(func(s *shareMessage) { s.Mark = make([]byte, 16) }))
	w.expect("a share for other noise", partyRestored, got)

	// One share, again, and another in its place.
	got, first := w.as("h1", p1, http.MethodPut, path, share(nil))
	w.expect("a share", "", got)
	got, again := w.as("h1", p1, http.MethodPut, path, share(nil))
	w.expect("a share again", "", got)
	if !bytes.Equal(first, again) {
		t.Errorf("the same share is acknowledged by %s and then %s", first, again)
	}
	got, _ = w.as("h1", p1, http.MethodPut, path, share(func(s *shareMessage) { s.Share[0] = 1 }))
	w.expect("another share", sharesDiffer, got)
	got, _ = w.as("anna", p1, http.MethodGet, "/tasks/"+m.hash+"/sum", nil)
	w.expect("the sum of one of two shares", sumIncomplete, got)
	for name, f := range map[string]func(*shareMessage){
		"less noise":   func(s *shareMessage) { s.Noise[0].Parameter = "1/1000" },
		"another law":  func(s *shareMessage) { s.Noise[0].Distribution = "discrete_gaussian" },
		"another ring": func(s *shareMessage) { s.Bits, s.Share = 128, s.Share[:16] },
	} {
		got, _ = w.as("h2", p1, http.MethodPut, path, share(f))
		w.expect(name, noiseDiffers, got)
	}
	got, _ = w.as("h2", p1, http.MethodPut, path, share(nil))
	w.expect("the last share", "", got)
	got, sum := w.as("anna", p1, http.MethodGet, "/tasks/"+m.hash+"/sum", nil)
	w.expect("the sum", "", got)
	_, same := w.as("anna", p1, http.MethodGet, "/tasks/"+m.hash+"/sum", nil)
	if len(sum) == 0 || !bytes.Equal(sum, same) {
		t.Error("the sum differs when it is asked twice: noise was drawn again")
	}
	got, _ = w.as("bob", p1, http.MethodGet, "/tasks/"+m.hash+"/sum", nil)
	w.expect("anna's sum for bob", unauthorized, got)
	var raw int
	if err := w.parties[0].db.QueryRow("SELECT count(*) FROM shares WHERE share IS NOT NULL").Scan(&raw); err != nil || raw != 0 {
		t.Errorf("%d shares are left beside their sum: %v", raw, err)
	}
}

// A stranger, and a member who is led to another, get no answer.
func TestStrangersAreNotAnswered(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 3)}, parties: 2}).run()
	other := layOut(t, setting{rows: [][]string{nil}, parties: 2})
	if _, err := call(t.Context(), other.identity("anna"), w.federation.Parties[0], http.MethodGet, "/healthz", nil); err == nil {
		t.Error("a stranger is answered")
	}
	wrong := w.federation.Parties[0]
	wrong.Key = w.federation.Parties[1].Key
	if _, err := call(t.Context(), w.identity("anna"), wrong, http.MethodGet, "/healthz", nil); err == nil {
		t.Error("p1 is taken for p2")
	}
}

// through puts a proxy before a member, for those who ask it from now on.
func (w *world) through(m *Member) *clustertest.Proxy {
	w.Helper()
	p := clustertest.NewProxy(w, m.Address)
	m.Address = p.Address()
	return p
}

// A party commits and its answer is lost: the same bytes again are acknowledged, the share
// counts once, and the sum is that of a run without a fault.
func TestAnswersThatAreLost(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 5), patients(9, 6)}, parties: 2}).run()
	m := w.task(countAll)
	h1, h2 := w.federation.Holders[0], w.federation.Holders[1]
	w.lost.Store(3)
	for range 3 {
		got, _ := w.as("anna", h1, http.MethodPut, "/tasks/"+m.hash, m.data)
		w.expect("an acknowledgement that is lost", partyUnreachable, got)
	}
	got, first := w.as("anna", h1, http.MethodPut, "/tasks/"+m.hash, m.data)
	w.expect("a task again", "", got)
	_, again := w.as("anna", h1, http.MethodPut, "/tasks/"+m.hash, m.data)
	if !bytes.Equal(first, again) {
		t.Errorf("the reply was %s and is %s", first, again)
	}
	got, _ = w.as("bob", h1, http.MethodPut, "/tasks/"+m.hash, m.data)
	w.expect("anna's reply for bob", unauthorized, got)
	got, _ = w.as("anna", h2, http.MethodPut, "/tasks/"+m.hash, m.data)
	w.expect("the other holder", "", got)
	if w.spent(0) != 1000 || w.spent(1) != 1000 {
		t.Errorf("one task was charged %v and %v, want 1000 each", w.spent(0), w.spent(1))
	}
	w.concludes(m, 11)
}

// concludes adds up the parties' sums, and has the first holder say what they make.
func (w *world) concludes(m made, want int64) {
	w.Helper()
	a := &asking{AskOptions: AskOptions{Federation: w.federation, Identity: w.identity("anna"), Now: time.Now, Patience: time.Second, Wait: pause}, until: time.Now().Add(5 * time.Second)}
	total, _, err := a.total(w.Context(), m.hash)
	if err != nil {
		w.Fatal(err)
	}
	message := encode(w, map[string][]byte{"totals": total})
	got, text := w.as("anna", w.federation.Holders[0], http.MethodPost, "/tasks/"+m.hash+"/answer", message)
	w.expect("the answer", "", got)
	var answer discreet.Answer
	if err := json.Unmarshal(text, &answer); err != nil {
		w.Fatal(err)
	}
	if answer.Rows[0][0] != want {
		w.Errorf("the answer is %v, want %d", answer.Rows[0][0], want)
	}
	got, _ = w.as("anna", w.federation.Holders[0], http.MethodPost, "/tasks/"+m.hash+"/answer", encode(w, map[string][]byte{"totals": total[:8]}))
	w.expect("totals of another size", invalidMessage, got)
	got, _ = w.as("bob", w.federation.Holders[0], http.MethodPost, "/tasks/"+m.hash+"/answer", message)
	w.expect("anna's answer for bob", unauthorized, got)
}

// A holder whose shares were lost after the charge answers the task no more: with shares of a
// second splitting, parties that have the first would add up noise.
func TestATaskThatWasChargedAndLostIsLost(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 5)}, parties: 2}).run()
	m := w.task(countAll)
	h := w.federation.Holders[0]
	w.lost.Store(1)
	got, _ := w.as("anna", h, http.MethodPut, "/tasks/"+m.hash, m.data)
	w.expect("an acknowledgement that is lost", partyUnreachable, got)
	for _, table := range []string{"tasks", "outbox"} {
		if _, err := w.holders[0].db.Exec("DELETE FROM " + table); err != nil {
			t.Fatal(err)
		}
	}
	got, _ = w.as("anna", h, http.MethodPut, "/tasks/"+m.hash, m.data)
	w.expect("the task again", taskLost, got)
	if w.spent(0) != 1000 {
		t.Errorf("the holder has spent %v, want 1000", w.spent(0))
	}
}

// Two tasks of one statement never share the same bytes: who reuses a share on a retry with
// another task lets the asker average the noise away.
func TestTasksHaveSharesOfTheirOwn(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 5)}, parties: 2}).run()
	seen := map[string]bool{}
	for range 2 {
		m := w.task(countAll)
		w.lost.Store(1)
		w.as("anna", w.federation.Holders[0], http.MethodPut, "/tasks/"+m.hash, m.data)
	}
	rows, err := w.holders[0].db.Query("SELECT message FROM outbox")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text []byte
		var s shareMessage
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if seen[hex.EncodeToString(s.Share)] {
			t.Error("a share was used for two tasks, or for two parties")
		}
		seen[hex.EncodeToString(s.Share)] = true
	}
	if len(seen) != 4 || rows.Err() != nil {
		t.Errorf("%d shares wait, of two tasks that were cut off: this tests no fault (%v)", len(seen), rows.Err())
	}
}

// A party is restored from an older copy, and the acknowledgement of a share was lost, so that it is sent
// again. A copy from before the noise makes no second sum; one from after makes the same.
func TestARestoredPartyMakesNoSecondSum(t *testing.T) {
	for name, late := range map[string]bool{"before its noise": false, "after its noise": true} {
		t.Run(name, func(t *testing.T) {
			w := layOut(t, setting{rows: [][]string{patients(0, 3)}, parties: 2}).run()
			p1 := w.federation.Parties[0]
			m := w.task(countAll)
			d := demand{Bits: 192, Noise: []discreet.PartyNoise{{Distribution: "discrete_laplace", Parameter: "1000", Values: 1}}}
			copied := filepath.Join(t.TempDir(), "state")
			take := func() {
				if err := store.Copy(t.Context(), w.parties[0].State, copied); err != nil {
					t.Fatal(err)
				}
			}
			if !late {
				take()
			}
			draw := func() (said drawn) {
				got, answer := w.as("h1", p1, http.MethodPut, "/tasks/"+m.hash+"/noise", encode(t, noiseMessage{m.data, d.Bits, d.Noise}))
				w.expect("the noise", "", got)
				if err := strict(answer, &said); err != nil {
					t.Fatal(err)
				}
				return said
			}
			share := encode(t, shareMessage{Task: m.data, Bits: d.Bits, Noise: d.Noise, Share: make([]byte, 24), Mark: draw().Mark})
			if late {
				take()
			}
			got, _ := w.as("h1", p1, http.MethodPut, "/tasks/"+m.hash+"/share", share)
			w.expect("the share", "", got)
			_, first := w.as("anna", p1, http.MethodGet, "/tasks/"+m.hash+"/sum", nil)
			old, err := openState(t.Context(), copied, partySchema)
			if err != nil {
				t.Fatal(err)
			}
			is := w.parties[0].db
			w.parties[0].db = old
			if err := is.Close(); err != nil {
				t.Fatal(err)
			}
			want := partyRestored
			if late {
				want = ""
			}
			got, _ = w.as("h1", p1, http.MethodPut, "/tasks/"+m.hash+"/share", share)
			w.expect("the share again", want, got)
			if late {
				if _, again := w.as("anna", p1, http.MethodGet, "/tasks/"+m.hash+"/sum", nil); !bytes.Equal(first, again) {
					t.Errorf("a second sum: %s, was %s", again, first)
				}
				return
			}
			draw() // by another holder, say: the share is for other noise still
			got, _ = w.as("h1", p1, http.MethodPut, "/tasks/"+m.hash+"/share", share)
			w.expect("the share once more", want, got)
		})
	}
}

// A party that was restored from an older copy is noticed before anything is charged.
func TestARestoredPartyIsNoticed(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 5)}, parties: 2}).run()
	if _, err := w.ask(countAll, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.parties[1].db.Exec("UPDATE written SET records = 0"); err != nil {
		t.Fatal(err)
	}
	_, err := w.ask(countAll, "1")
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) || d.Code != "D244" || !strings.Contains(d.Message, "older copy") {
		t.Errorf("a restored party: %v", err)
	}
	if w.spent(0) != 1 {
		t.Errorf("spent %v, want 1", w.spent(0))
	}
}

// A member that is not there costs nobody anything before the charge, and the asker gives up
// in time.
func TestMissingMembers(t *testing.T) {
	w := layOut(t, setting{rows: [][]string{patients(0, 5), patients(9, 5)}, parties: 2}).run()
	ask := func() error {
		_, err := Ask(t.Context(), AskOptions{Federation: w.federation, Identity: w.identity("anna"), Now: time.Now, Patience: 300 * time.Millisecond, Wait: pause}, w.statement(countAll, "1"))
		return err
	}
	for name, to := range map[string]*Member{"a party": &w.federation.Parties[1], "a holder": &w.federation.Holders[1]} {
		was := to.Address
		w.through(to).Cut()
		err := ask()
		var d *diagnostic.Diagnostic
		if !errors.As(err, &d) || d.Code != "D243" {
			t.Errorf("%s is missing: %v", name, err)
		}
		to.Address = was
	}
	if w.spent(0) != 0 || w.spent(1) != 0 {
		t.Errorf("spent %v and %v, want 0: who is missing was seen before the charge", w.spent(0), w.spent(1))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Ask(ctx, AskOptions{Federation: w.federation, Identity: w.identity("anna"), Now: time.Now, Patience: time.Minute, Wait: pause}, w.statement(countAll, "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// Files of a federation that cannot be used.
func TestFederationFiles(t *testing.T) {
	key := func(c string) string { return strings.Repeat(c, 64) }
	member := func(kind, name, address, key string) string {
		return "[[" + kind + "]]\nname = \"" + name + "\"\naddress = \"" + address + "\"\nkey = \"" + key + "\"\n"
	}
	holder := member("holder", "h", "a:1", key("1"))
	parties := member("party", "p", "a:2", key("2")) + member("party", "q", "a:3", key("3"))
	for name, c := range map[string]struct{ text, says string }{
		"as it should be":       {holder + parties, ""},
		"no holder":             {parties, "no holder"},
		"one party":             {holder + member("party", "p", "a:2", key("2")), "two parties"},
		"a key twice":           {holder + parties + member("asker", "x", "", key("2")), "key of another"},
		"a name twice":          {holder + parties + member("asker", "h", "", key("4")), "called h"},
		"a key that is none":    {strings.ReplaceAll(holder, key("1"), "12") + parties, "digits"},
		"no address":            {strings.ReplaceAll(holder, "a:1", "") + parties, "address"},
		"a name with a space":   {strings.ReplaceAll(holder, `"h"`, `"h h"`) + parties, "name"},
		"an unknown key":        {"threshold = 1\n" + holder + parties, "threshold"},
		"what is no TOML":       {"[[", "cannot be used"},
		"an identity elsewhere": {"identity = \"x.pem\"\n" + holder + parties, ""},
	} {
		path := filepath.Join(t.TempDir(), "federation.toml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFederation(path)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFederation(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that there is not is read")
	}
	if _, err := NewIdentity("a b", time.Now()); err == nil {
		t.Error("a name with a space gets a key")
	}
}
