package process_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/internal/store"
)

// The rows of the table of faults that need no process to die: contributions that come again, are
// damaged, are none, or come at the wrong time; and collections that may not be.
func TestFaults(t *testing.T) {
	t.Parallel()
	w := begin(t, cluster.Settings{"least": "2"}, "client>leader")

	// A client is cut off after half of its message: nothing is stored, and a retry counts once.
	link := w.proxies["client>leader"]
	cut := w.votes("cut", 1, 2)
	if err := w.halfUpload(cut); err == nil {
		t.Error("half of a message is answered")
	}
	if s := w.status("cut"); len(s) != 0 {
		t.Errorf("half of a message leaves %v", s)
	}
	// The leader has them and its answer is lost: the same bytes again count once.
	link.Mute()
	short, end := withTimeout(w, 700*time.Millisecond)
	_, err := w.client.Upload(short, cut)
	end()
	if err == nil {
		t.Error("an answer came through")
	}
	link.Mend()
	w.upload(process.Stored, cut...)
	w.total("cut", 0, 1, 1, 0)

	// Replays: in one request, in another, after the job, after a collection, by another name of batch.
	votes := w.votes("replay", 0, 3)
	w.upload(process.Stored, append(slices.Clone(votes), votes[0])...)
	w.status("replay")
	w.upload(process.Stored, votes...) // the same bytes are answered as they were, and count once
	again := *votes[0]
	again.Batch = "other"
	w.upload(prio.ReportReplayed, &again) // the seal would not open either: its batch is bound
	w.total("replay", 1, 0, 0, 1)
	w.upload(prio.BatchCollected, w.votes("replay", 1)...)

	// A batch that is small, or not there.
	w.upload(process.Stored, w.votes("small", 1)...)
	w.refused("small", prio.BatchSize)
	w.refused("nothing", prio.BatchSize)
	w.upload(process.Stored, w.votes("small", 1)...)
	w.total("small", 0, 2, 0, 0) // what was refused closed nothing

	// Another collection of a batch that was collected.
	err = w.ask(w.collector, "leader", http.MethodPut, "/collections/"+strings.Repeat("0", 32), map[string]string{"batch": "small"}, nil)
	w.expect("a second collection", err, prio.BatchOverlap)

	// Members ask for what is not theirs, or for what there is not.
	for name, c := range map[string]struct {
		as                       *cluster.Station
		to, method, path, expect string
		message                  any
	}{
		"a client collects":         {w.station, "leader", http.MethodPut, "/collections/" + strings.Repeat("1", 32), "unauthorizedRequest", map[string]string{"batch": "small"}},
		"a collector contributes":   {w.collector, "leader", http.MethodPut, "/reports", "unauthorizedRequest", w.votes("small", 1)},
		"a client asks a helper":    {w.station, "helper-1", http.MethodPut, "/reports", "unauthorizedRequest", w.votes("small", 1)},
		"a client leads":            {w.station, "helper-1", http.MethodPut, "/aggregation_jobs/" + strings.Repeat("1", 32), "unauthorizedRequest", map[string]any{}},
		"a collector leads":         {w.collector, "helper-1", http.MethodPost, "/collections/" + strings.Repeat("1", 32), "unauthorizedRequest", map[string]any{}},
		"a client reads a share":    {w.station, "helper-1", http.MethodGet, "/collections/" + strings.Repeat("1", 32) + "/share?batch=small", "unauthorizedRequest", nil},
		"a collection that is none": {w.collector, "helper-1", http.MethodGet, "/collections/" + strings.Repeat("1", 32) + "/share?batch=small", "unrecognizedCollection", nil},
		"a collection without name": {w.collector, "leader", http.MethodPut, "/collections/x", "invalidMessage", map[string]string{"batch": "small"}},
		"a message that is none":    {w.station, "leader", http.MethodPut, "/reports", "invalidMessage", map[string]string{"a": "b"}},
		"no contribution":           {w.station, "leader", http.MethodPut, "/reports", "invalidMessage", []int{}},
		"a client brings a task":    {w.station, "leader", http.MethodPut, "", "unauthorizedRequest", w.task},
		"a collector brings a key":  {w.collector, "helper-1", http.MethodPut, "", "unauthorizedRequest", w.task},
	} {
		w.expect(name, w.ask(c.as, c.to, c.method, c.path, c.message, nil), c.expect)
	}
	err = w.station.Ask(w.ctx, "leader", http.MethodPut, "/tasks/"+strings.Repeat("0", 64)+"/reports", []byte("[]"), nil)
	w.expect("another task", err, "unrecognizedTask")
	err = w.station.Ask(w.ctx, "leader", http.MethodPut, "/tasks/"+w.hash+"/reports", make([]byte, 40<<20), nil)
	if err == nil {
		t.Error("40 MB are taken")
	}
}

// halfUpload sends half of the bytes of a request.
func (w *world) halfUpload(all []*process.Report) error {
	w.Helper()
	data, err := json.Marshal(all)
	if err != nil {
		w.Fatal(err)
	}
	ctx, end := withTimeout(w, 5*time.Second)
	defer end()
	in, out := io.Pipe()
	go func() {
		out.Write(data[:len(data)/2])
		out.CloseWithError(io.ErrUnexpectedEOF)
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, w.station.URL("leader", "/tasks/"+w.hash+"/reports"), in)
	if err != nil {
		w.Fatal(err)
	}
	r.ContentLength = int64(len(data))
	got, err := w.station.Client("leader").Do(r)
	if err != nil {
		return err
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", got.StatusCode)
	}
	return nil
}

// Contributions with each kind of byte changed, cut or exchanged, and ones that are none of the
// circuit, count nowhere, each by its own code, and the honest rest counts.
func TestDamagedContributionsCountNowhere(t *testing.T) {
	t.Parallel()
	w := begin(t, cluster.Settings{"kind": "multihot", "length": "4", "weight": "2"})
	batch := 0
	for name, c := range map[string]struct {
		change func(r *process.Report)
		want   string
		early  bool // refused where it is sent
	}{
		"a batch's name":         {func(r *process.Report) { r.Batch = "../x" }, process.InvalidMessage, true},
		"a short name":           {func(r *process.Report) { r.Nonce = r.Nonce[:15] }, process.InvalidMessage, true},
		"a missing share":        {func(r *process.Report) { r.Sealed = r.Sealed[:1] }, process.InvalidMessage, true},
		"a share too many":       {func(r *process.Report) { r.Sealed = append(r.Sealed, r.Sealed[0]) }, process.InvalidMessage, true},
		"a time to the second":   {func(r *process.Report) { r.Time++ }, process.InvalidMessage, true},
		"a time to come":         {func(r *process.Report) { r.Time += 2 * 3600 }, process.TooEarly, true},
		"a time after the task":  {func(r *process.Report) { r.Time = w.task.Expires.Unix() }, process.TaskExpired, true},
		"a time before the task": {func(r *process.Report) { r.Time = -7200 }, process.TooEarly, true},
		"a time that is another": {func(r *process.Report) { r.Time -= 3600 }, process.DecryptError, false},
		"a byte of the name":     {func(r *process.Report) { r.Nonce[3] ^= 1 }, process.DecryptError, false},
		"a public byte":          {func(r *process.Report) { r.Public[5] ^= 1 }, process.DecryptError, false},
		"no public share":        {func(r *process.Report) { r.Public = nil }, process.DecryptError, false},
		"a byte for the leader":  {func(r *process.Report) { r.Sealed[0][40] ^= 1 }, process.DecryptError, false},
		"a byte for the helper":  {func(r *process.Report) { r.Sealed[1][40] ^= 1 }, process.DecryptError, false},
		"a byte of a seal's key": {func(r *process.Report) { r.Sealed[1][4] ^= 1 }, process.DecryptError, false},
		"a share that is cut":    {func(r *process.Report) { r.Sealed[1] = r.Sealed[1][:33] }, process.DecryptError, false},
		"a share of no bytes":    {func(r *process.Report) { r.Sealed[0] = nil }, process.DecryptError, false},
		"a share that grows":     {func(r *process.Report) { r.Sealed[0] = append(r.Sealed[0], make([]byte, 1<<20)...) }, process.DecryptError, false},
		"shares exchanged":       {func(r *process.Report) { r.Sealed[0], r.Sealed[1] = r.Sealed[1], r.Sealed[0] }, process.DecryptError, false},
		"another batch":          {func(r *process.Report) { r.Batch += "-2" }, process.DecryptError, false},
	} {
		batch++
		name2 := fmt.Sprint("b", batch)
		bad := w.report(name2, 1, 0, 0, 0)
		c.change(bad)
		if c.early {
			w.upload(c.want, bad)
			continue
		}
		w.upload(process.Stored, bad, w.report(name2, 0, 1, 1, 0))
		if s := w.status(bad.Batch); s[c.want] != 1 {
			t.Errorf("%s: %v, want %s", name, s, c.want)
		}
		w.total(name2, 0, 1, 1, 0)
	}
	// Three places by a client that splits by a circuit which admits them; and for another key or task.
	forged := *w.task
	forged.Circuit.Weight = 3
	w.forge(&forged, "three places", process.VerifyError, 1, 1, 1, 0)
	other := *w.task
	other.Name = "another task"
	w.forge(&other, "another task", process.DecryptError, 1, 0, 0, 0)
}

// forge has a client that deviates split numbers for another task than the one it sends them for.
func (w *world) forge(by *process.Task, batch, want string, numbers ...uint64) {
	w.Helper()
	batch = strings.ReplaceAll(batch, " ", "-")
	c, err := process.NewClient(w.ctx, w.station, by)
	if err != nil {
		w.Fatal(err)
	}
	r, err := process.ForgedReport(c, w.hash, batch, numbers)
	if want == process.DecryptError {
		r, err = c.Report(batch, numbers)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.upload(process.Stored, r, w.report(batch, 0, 0, 0, 1))
	if s := w.status(batch); s[want] != 1 {
		w.Errorf("%s: %v, want %s", batch, s, want)
	}
	if got := w.total(batch, 0, 0, 0, 1); got.Refused[want] != 1 {
		w.Errorf("%s: the result counts as refused %v", batch, got.Refused)
	}
}

// A helper has counted a job, and its answer is lost: the leader sends the same bytes again, also after
// it was killed, the helper answers as it did, and all count once. So do a helper and a leader that are
// killed at any other time.
func TestKilledAggregators(t *testing.T) {
	t.Parallel()
	w := begin(t, nil, "leader>helper-1")
	link := w.proxies["leader>helper-1"]
	restart := func(role string) {
		t.Helper()
		if err := w.c.Kill(w.ctx, role); err != nil {
			t.Fatal(err)
		}
		if err := w.c.Start(w.ctx, role); err != nil {
			t.Fatal(err)
		}
	}
	// All answers of the helper are lost from here on; the leader is killed, then the helper.
	link.Mute()
	w.upload(process.Stored, w.votes("lost", 0, 1, 1)...)
	<-time.After(300 * time.Millisecond)
	restart("leader")
	link.Mend()
	if s := w.status("lost"); s[prio.Accepted] != 3 {
		t.Errorf("after the leader was killed: %v", s)
	}
	link.Mute()
	w.upload(process.Stored, w.votes("lost", 2)...)
	<-time.After(300 * time.Millisecond)
	restart("helper-1")
	link.Mend()
	w.total("lost", 1, 2, 1, 0)

	// Answers are cut after more and more bytes: before the first step's answer, in it, and after it, so
	// that the helper has counted what the leader has not: of these messages, after some 3,000 to 3,400. Then one of them is killed.
	ahead := 0
	for i, bytes, step, patience := 0, int64(1000), int64(150), 5; bytes < 4200 && (ahead == 0 || i < 5); i, bytes = i+1, bytes+step {
		if bytes > 2900 {
			step, patience = 50, 60
		}
		batch := fmt.Sprint("round-", i)
		restart("leader") // with a new connection
		link.CutAfter(bytes)
		w.upload(process.Stored, w.votes(batch, 3, 3, 0, 1)...)
		<-time.After(200 * time.Millisecond)
		for wait := 0; ahead == 0 && wait < patience && w.jobs("helper-1") <= w.jobs("leader"); wait++ { // on a busy machine
			<-time.After(100 * time.Millisecond)
		}
		if w.jobs("helper-1") > w.jobs("leader") {
			ahead++
		}
		restart([]string{"leader", "helper-1"}[i%2])
		link.Mend()
		// The collector is cut off, and the leader killed, while it asks.
		if i%3 == 0 {
			short, end := withTimeout(w, time.Duration(rand.IntN(60))*time.Millisecond)
			process.Collect(short, w.collector, w.task, batch)
			end()
			restart("leader")
		}
		w.total(batch, 1, 1, 0, 2)
	}
	if ahead == 0 {
		t.Error("the helper was never ahead of the leader: this tests too little")
	}
	t.Logf("the helper was ahead %d times", ahead)
}

// jobs is how many jobs an aggregator has counted.
func (w *world) jobs(role string) (n int) {
	w.Helper()
	db, err := store.Existing(filepath.Join(w.c.Folder(role), "tasks", w.hash+".db"))
	if err != nil {
		w.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(w.ctx, "SELECT count(*) FROM jobs").Scan(&n); err != nil {
		w.Fatal(err)
	}
	return n
}

// The collector asks, and is killed before it has the answer: asking again it gets the same values, with
// noise that was drawn once. Noise of epsilon 1/1000 is the same in four batches with probability below 1e-10.
func TestACollectionHasOneNoise(t *testing.T) {
	t.Parallel()
	w := begin(t, cluster.Settings{"kind": "count", "epsilon": "0.001", "budget": "1"}, "collector>leader")
	link := w.proxies["collector>leader"]
	different := map[string]bool{}
	for i := range 4 {
		batch := fmt.Sprint(i)
		w.upload(process.Stored, w.report(batch, 1))
		link.Mute()
		short, end := withTimeout(w, 500*time.Millisecond)
		if _, err := process.Collect(short, w.collector, w.task, batch); err == nil {
			t.Error("an answer came through")
		}
		end()
		if err := w.c.Kill(w.ctx, "leader"); err != nil {
			t.Fatal(err)
		}
		if err := w.c.Start(w.ctx, "leader"); err != nil {
			t.Fatal(err)
		}
		link.Mend()
		first, again := w.collect(batch), w.collect(batch)
		if first.Values[0].Cmp(again.Values[0]) != 0 {
			t.Errorf("the collection again is %v, was %v", again.Values, first.Values)
		}
		different[first.Values[0].String()] = true
	}
	if len(different) == 1 {
		t.Error("four batches have the same noise")
	}
}

// An aggregator whose state is an older copy is found, and nothing is collected with it.
func TestRestoredAggregators(t *testing.T) {
	t.Parallel()
	for _, role := range []string{"leader", "helper-1"} {
		w := begin(t, nil)
		file := filepath.Join(w.c.Folder(role), "tasks", w.hash+".db")
		w.upload(process.Stored, w.votes("first", 0, 1)...)
		w.status("first")
		old := filepath.Join(t.TempDir(), "old")
		if err := store.Copy(w.ctx, file, old); err != nil {
			t.Fatal(err)
		}
		w.total("first", 1, 1, 0, 0)
		if err := w.c.Stop(w.ctx, role); err != nil {
			t.Fatal(err)
		}
		replace(t, old, file)
		if err := w.c.Start(w.ctx, role); err != nil {
			t.Fatal(err)
		}
		// The same collection: noise would be drawn twice.
		if role == "leader" {
			w.refused("first", prio.Restored)
		}
		// And another, by a budget that has forgotten.
		w.upload(process.Stored, w.votes("second", 1)...)
		w.refused("second", prio.Restored)
	}
}

// A leader that deviates, or has other contributions than its helper, gets no share: it is found before
// anything is charged.
func TestALeaderCannotChooseABatch(t *testing.T) {
	t.Parallel()
	w := begin(t, nil)
	votes := w.votes("batch", 1, 2, 2)
	w.upload(process.Stored, votes...)
	w.status("batch")
	leader := w.as("leader", "helper-1")
	id := strings.Repeat("a", 32)
	begin := map[string]any{"records": 1 << 30, "batch": "batch", "count": 2, "checksum": make([]byte, 32), "mark": make([]byte, 16)}
	w.expect("a batch of two of three", w.ask(leader, "helper-1", http.MethodPut, "/collections/"+id, begin, nil), "batchMismatch")
	release := map[string]any{"records": 1 << 30, "batch": "batch", "marks": [][]byte{make([]byte, 16), make([]byte, 16)}}
	w.expect("a collection that was not begun", w.ask(leader, "helper-1", http.MethodPost, "/collections/"+id, release, nil), prio.Restored)
	// A job with contributions that were counted, one that is cut, and one in another batch.
	job := strings.Repeat("b", 32)
	piece := map[string]any{"time": votes[0].Time, "nonce": votes[0].Nonce, "public_share": votes[0].Public, "encrypted_input_share": votes[0].Sealed[1]}
	type answer struct {
		Records int64 `json:"records"`
		Reports []struct {
			Message []byte `json:"prep_share"`
			Code    string `json:"error"`
		} `json:"reports"`
	}
	var said answer
	message := map[string]any{"records": 1 << 30, "batch": "batch", "reports": []any{piece}}
	if err := w.ask(leader, "helper-1", http.MethodPut, "/aggregation_jobs/"+job, message, &said); err != nil || len(said.Reports) != 1 || said.Reports[0].Code != prio.ReportReplayed {
		t.Errorf("a contribution in another job is answered by %+v, %v", said, err)
	}
	message["batch"] = "elsewhere"
	w.expect("the job again, of another batch", w.ask(leader, "helper-1", http.MethodPut, "/aggregation_jobs/"+job, message, nil), prio.JobMismatch)
	said = answer{}
	if err := w.ask(leader, "helper-1", http.MethodPut, "/aggregation_jobs/"+strings.Repeat("c", 32), message, &said); err != nil || said.Reports[0].Code != process.DecryptError {
		t.Errorf("a contribution in another batch is answered by %+v, %v", said, err)
	}
	w.expect("an end of no job", w.ask(leader, "helper-1", http.MethodPost, "/aggregation_jobs/"+strings.Repeat("d", 32), map[string]any{"records": 1 << 30, "prep_shares": [][][]byte{}}, nil), "unrecognizedAggregationJob")
	// A fresh contribution, whose second step has other messages than the first.
	fresh := w.report("fresh", 1)
	piece = map[string]any{"time": fresh.Time, "nonce": fresh.Nonce, "public_share": fresh.Public, "encrypted_input_share": fresh.Sealed[1]}
	message = map[string]any{"records": 1 << 30, "batch": "fresh", "reports": []any{piece}}
	job, said = strings.Repeat("e", 32), answer{}
	if err := w.ask(leader, "helper-1", http.MethodPut, "/aggregation_jobs/"+job, message, &said); err != nil || said.Reports[0].Code != "" {
		t.Fatalf("a fresh contribution is answered by %+v, %v", said, err)
	}
	first := bytes.Clone(said.Reports[0].Message)
	for name, messages := range map[string][][][]byte{"of fewer contributions": {}, "of one aggregator": {{first}}, "without the helper's": {{first, bytes.Repeat([]byte{1}, len(first))}}} {
		w.expect("messages "+name, w.ask(leader, "helper-1", http.MethodPost, "/aggregation_jobs/"+job, map[string]any{"records": 1 << 30, "prep_shares": messages}, nil), "invalidMessage")
	}
	var end struct {
		Records  int64    `json:"records"`
		Outcomes []string `json:"outcomes"`
	}
	if err := w.ask(leader, "helper-1", http.MethodPost, "/aggregation_jobs/"+job, map[string]any{"records": 1 << 30, "prep_shares": [][][]byte{{first, first}}}, &end); err != nil || !slices.Equal(end.Outcomes, []string{process.VerifyError}) {
		t.Errorf("a leader that says what the helper said is answered by %+v, %v", end, err)
	}
}
