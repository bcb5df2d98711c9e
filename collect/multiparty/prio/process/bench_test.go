package process_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/multiparty/prio/process"
)

// BenchmarkProcesses measures what each process takes of a processor for one contribution, storage and TLS
// included: processor time, which does not depend on what else the machine does. docs/collect/scale.md multiplies it.
func BenchmarkProcesses(b *testing.B) {
	for _, c := range []struct {
		name string
		set  cluster.Settings
		n    int
		of   []uint64
	}{
		{"count", cluster.Settings{"kind": "count"}, 1000, []uint64{1}},
		{"sum255", cluster.Settings{"kind": "sum", "max": "255"}, 1000, []uint64{200}},
		{"histogram16", cluster.Settings{"kind": "histogram", "length": "16"}, 1000, []uint64{3}},
		{"histogram256", cluster.Settings{"kind": "histogram", "length": "256"}, 400, []uint64{3}},
		{"sumvec100x8", cluster.Settings{"kind": "sumvec", "length": "100", "bits": "8"}, 200, make([]uint64, 100)},
		{"sumvec7850x22", cluster.Settings{"kind": "sumvec", "length": "7850", "bits": "22"}, 4, make([]uint64, 7850)}, // a node's update in federated learning
		{"count,3 aggregators", cluster.Settings{"kind": "count", "aggregators": "3"}, 1000, []uint64{1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := begin(b, c.set)
			from := own(b)
			var all []*process.Report
			for range c.n {
				r, err := w.client.Report("one", c.of)
				if err != nil {
					b.Fatal(err)
				}
				all = append(all, r)
			}
			client := own(b) - from
			text, err := json.Marshal(all)
			if err != nil {
				b.Fatal(err)
			}
			status, err := w.c.Status(w.ctx)
			if err != nil {
				b.Fatal(err)
			}
			before := map[string]float64{}
			for _, s := range status {
				before[s.Role] = processorTime(b, s.PID)
			}
			for b.Loop() {
				if _, err := w.client.Upload(w.ctx, all); err != nil {
					b.Fatal(err)
				}
				for s, err := w.client.Status(w.ctx, "one"); err != nil || s[process.Stored] > 0; s, err = w.client.Status(w.ctx, "one") {
					if w.ctx.Err() != nil {
						b.Fatal(err)
					}
					<-time.After(100 * time.Millisecond)
				}
			}
			if b.N > 1 {
				b.Fatal("contributions count once: run it with -benchtime=1x")
			}
			b.ReportMetric(client*1e6/float64(c.n), "client-µs/report")
			b.ReportMetric(float64(len(text))/float64(c.n), "bytes/report")
			sealed := 0
			for _, s := range all[0].Sealed[1:] {
				sealed = len(s) + len(all[0].Public)
			}
			b.ReportMetric(float64(sealed), "helper-bytes/report")
			for _, s := range status {
				b.ReportMetric((processorTime(b, s.PID)-before[s.Role])*1e6/float64(c.n), s.Role+"-µs/report")
			}
		})
	}
}

// own is the processor time of this process.
func own(b *testing.B) float64 { return processorTime(b, os.Getpid()) }

// processorTime is that of a process so far, in seconds.
func processorTime(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("skip: this system does not tell the processor time of a process: ", err)
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	user, errU := strconv.Atoi(string(fields[11]))
	system, errS := strconv.Atoi(string(fields[12]))
	if errU != nil || errS != nil {
		b.Fatal(errU, errS)
	}
	return float64(user+system) / 100
}
