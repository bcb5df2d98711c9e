package analysis

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"
)

// million is a million queries to 250 teachers about ten classes, of which rows in
// plenty are equal if the teachers mostly agree, and hardly any if they do not.
func million(agree bool) *Votes {
	r := rand.New(rand.NewPCG(1, 2))
	v := &Votes{Classes: 10, Counts: make([]int32, 10_000_000)}
	for i := range v.Len() {
		row := v.Row(i)
		left := int32(250)
		top := r.IntN(10)
		share := int32(r.IntN(251))
		if agree {
			share = 250 - min(250, int32(r.ExpFloat64()*6))
		}
		row[top] += share
		for left -= share; left > 0; left-- {
			row[r.IntN(10)]++
		}
	}
	return v
}

func (v *Votes) csv() []byte {
	var b bytes.Buffer
	for i := range v.Len() {
		for j, n := range v.Row(i) {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(int(n)))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func BenchmarkMillion(b *testing.B) {
	for _, votes := range []struct {
		name  string
		agree bool
	}{{"agreeing", true}, {"distinct", false}} {
		v := million(votes.agree)
		for name, o := range map[string]Options{
			"lnmax":     {LNMax: &LNMax{0.05}, Delta: 1e-6},
			"gnmax":     {GNMax: &GNMax{40}, Delta: 1e-6},
			"confident": {GNMax: &GNMax{40}, Threshold: &Threshold{200, 150}, Delta: 1e-6},
		} {
			b.Run(votes.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := Analyze(v, o); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		text := v.csv()
		b.Run(votes.name+"/read", func(b *testing.B) {
			for b.Loop() {
				if _, err := ReadVotes(bytes.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
