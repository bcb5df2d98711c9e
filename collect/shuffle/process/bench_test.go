package process_test

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/discreet-dp/discreet/collect/cluster"
)

// What each process takes of a processor for one report, storage and TLS included: processor
// time, which does not depend on what else the machine does.
func BenchmarkProcesses(b *testing.B) {
	const n = 2000
	s := begin(b, n, cluster.Settings{"batch": "1000"}, nil, nil)
	all := must(s.c.Status(s.ctx))
	before := map[string]float64{}
	for _, role := range all {
		before[role.Role] = processorTime(b, role.PID)
	}
	for b.Loop() {
		for from := 0; from < n; from += 500 {
			if _, err := s.people.Deliver(s.ctx, s.envelopes[from:from+500]); err != nil {
				b.Fatal(err)
			}
		}
		s.results(n)
	}
	if b.N > 1 {
		b.Fatal("a study has its reports once: run it with -benchtime=1x")
	}
	b.ReportMetric(before["issuer"]*1e6/n, "issuer-µs/report") // which had its part before
	for _, role := range all {
		if role.Role != "issuer" {
			b.ReportMetric((processorTime(b, role.PID)-before[role.Role])*1e6/n, role.Role+"-µs/report")
		}
	}
}

// processorTime is that of a process so far, in seconds.
func processorTime(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("skip: this system does not tell the processor time of a process: ", err)
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	return float64(must(strconv.Atoi(string(fields[11])))+must(strconv.Atoi(string(fields[12])))) / 100
}
