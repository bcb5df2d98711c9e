package shuffle_test

import (
	"crypto/rand"
	"crypto/rsa"
	"testing"

	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/noise"
)

// What each role does for one report, on one core.
func BenchmarkRoles(b *testing.B) {
	p := must(shuffle.New(histogram(4, 0, 1000, "3")))
	first, last, analyzer := must(shuffle.NewKey()), must(shuffle.NewKey()), must(shuffle.NewKey())
	keys := shuffle.Keys{First: first.PublicKey(), Last: last.PublicKey(), Analyzer: analyzer.PublicKey()}
	issuer := must(rsa.GenerateKey(rand.Reader, shuffle.TokenBits))
	request := func(by shuffle.Reader) *shuffle.TokenRequest { return must(p.RequestToken(&issuer.PublicKey, by)) }
	r1, r2 := request(shuffle.First), request(shuffle.Last)
	t1, t2 := must(r1.Finish(must(shuffle.SignBlinded(issuer, r1.Blinded)))), must(r2.Finish(must(shuffle.SignBlinded(issuer, r2.Blinded))))
	s := noise.NewStream(noise.System())
	envelope := must(p.Seal(keys, t1, t2, 0, []int{1}))
	_, bundle, err := p.OpenFirst(first, envelope)
	if err != nil {
		b.Fatal(err)
	}
	_, _, message, err := p.OpenLast(last, bundle)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("respondent/randomize and seal", func(b *testing.B) {
		for b.Loop() {
			must(p.Seal(keys, t1, t2, 0, must(p.Respond(s, 1))))
		}
	})
	b.Run("respondent/tokens", func(b *testing.B) {
		signed := must(shuffle.SignBlinded(issuer, r1.Blinded))
		for b.Loop() {
			for range 2 {
				request(shuffle.First)
				must(r1.Finish(signed))
			}
		}
	})
	b.Run("issuer/two signatures", func(b *testing.B) {
		for b.Loop() {
			for range 2 {
				must(shuffle.SignBlinded(issuer, r1.Blinded))
			}
		}
	})
	b.Run("hop-1/open and verify", func(b *testing.B) {
		for b.Loop() {
			token, _, err := p.OpenFirst(first, envelope)
			if err != nil || p.Verify(&issuer.PublicKey, shuffle.First, token) != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("hop-2/open and verify", func(b *testing.B) {
		for b.Loop() {
			token, _, _, err := p.OpenLast(last, bundle)
			if err != nil || p.Verify(&issuer.PublicKey, shuffle.Last, token) != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("analyzer/open", func(b *testing.B) {
		for b.Loop() {
			must(p.OpenMessage(analyzer, message))
		}
	})
	b.Run("permute 100000", func(b *testing.B) {
		x := make([]int, 100_000)
		for b.Loop() {
			if err := shuffle.Permute(s, x); err != nil {
				b.Fatal(err)
			}
		}
	})
}
