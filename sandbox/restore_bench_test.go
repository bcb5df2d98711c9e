package sandbox

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/sqltype"
)

// BenchmarkRestore compares ways to bring memory back after a call: what the marks say,
// as it is done; all of it; and what a comparison with the snapshot finds.
func BenchmarkRestore(b *testing.B) {
	ctx := context.Background()
	for _, language := range []string{"c", "go"} {
		binary, err := os.ReadFile("testdata/" + language + "/mapper.wasm")
		if err != nil {
			b.Fatal(err)
		}
		m, err := Load(ctx, binary, Options{
			Columns: []Column{{"age", sqltype.Of(sqltype.Integer)}, {"cost", sqltype.Of(sqltype.Double)}},
			Keys:    []string{"0", "25", "50", "75"}, Upper: 100,
		})
		if err != nil {
			b.Fatal(err)
		}
		s := m.start
		for name, restore := range map[string]func(*instance){
			"marked": func(in *instance) { s.restore(in, false) },
			"all": func(in *instance) {
				s.copy(in.memory, 0, uint32(len(s.memory)+pageMask)&^pageMask)
				s.restore(in, false)
			},
			"compared": func(in *instance) { s.copyDifferent(in.memory); s.restore(in, false) },
		} {
			b.Run(language+"/"+name, func(b *testing.B) {
				in, err := m.take(ctx)
				if err != nil {
					b.Fatal(err)
				}
				defer m.give(in)
				record := [][]sqltype.Value{{int64(30), 1.0}}
				for b.Loop() {
					in.written, _ = encode(in.memory[s.input:s.input+s.inputSize], m.options.Columns, record)
					if _, err := m.call(ctx, in, 1); err != nil {
						b.Fatal(err)
					}
					restore(in)
				}
				b.ReportMetric(float64(len(s.memory))/1024, "KiB")
			})
		}
		if err := m.Close(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

const pageMask = 1<<16 - 1

// copyDifferent restores the pages of 4 KiB that differ.
func (s *snapshot) copyDifferent(memory []byte) {
	const page = 4096
	for at := 0; at < len(s.memory); at += page {
		end := min(at+page, len(s.memory))
		if !bytes.Equal(memory[at:end], s.memory[at:end]) {
			copy(memory[at:end], s.memory[at:end])
		}
	}
}
