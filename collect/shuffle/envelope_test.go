package shuffle_test

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func histogram(k, fakes, batch int, epsilon string) shuffle.Question {
	return shuffle.Question{Kind: shuffle.Histogram, Answers: k, Epsilon: must(privacy.ParseEpsilon(epsilon)), Fakes: fakes,
		Delta: must(privacy.ParseDelta("1e-6")), Batch: batch, Tokens: true}
}

func TestEnvelopes(t *testing.T) {
	q := histogram(4, 2, 10, "2")
	q.Crowds = &shuffle.Crowd{Epsilon: q.Epsilon, Delta: q.Delta, Threshold: 2}
	p := must(shuffle.New(q))
	first, last, analyzer := must(shuffle.NewKey()), must(shuffle.NewKey()), must(shuffle.NewKey())
	keys := shuffle.Keys{First: first.PublicKey(), Last: last.PublicKey(), Analyzer: analyzer.PublicKey()}
	issuer := must(rsa.GenerateKey(rand.Reader, shuffle.TokenBits))
	token := func(by shuffle.Reader) shuffle.Token {
		r := must(p.RequestToken(&issuer.PublicKey, by))
		return must(r.Finish(must(shuffle.SignBlinded(issuer, r.Blinded))))
	}
	t1, t2 := token(shuffle.First), token(shuffle.Last)
	messages := must(p.Respond(noise.NewStream(noise.System()), 3))
	envelope := must(p.Seal(keys, t1, t2, 77, messages))
	if len(envelope) != p.FirstSize() {
		t.Errorf("an envelope has %d bytes, want %d", len(envelope), p.FirstSize())
	}
	got1, bundle, err := p.OpenFirst(first, envelope)
	if err != nil || got1 != t1 || p.Verify(&issuer.PublicKey, shuffle.First, got1) != nil {
		t.Fatal("the first shuffler", err)
	}
	got2, crowd, sealed, err := p.OpenLast(last, bundle)
	if err != nil || got2 != t2 || crowd != 77 || p.Verify(&issuer.PublicKey, shuffle.Last, got2) != nil {
		t.Fatal("the last shuffler", err, crowd)
	}
	for i, want := range messages {
		if got, err := p.OpenMessage(analyzer, sealed[i*shuffle.SealedMessage:(i+1)*shuffle.SealedMessage]); err != nil || got != want {
			t.Errorf("message %d: %d, %v, want %d", i, got, err, want)
		}
	}

	// Each reader opens its own seal alone, of this question alone; no bit may change.
	if _, _, err := p.OpenFirst(last, envelope); !errors.Is(err, shuffle.ErrEnvelope) {
		t.Errorf("another reader's key: %v", err)
	}
	if _, _, _, err := p.OpenLast(first, envelope); !errors.Is(err, shuffle.ErrEnvelope) {
		t.Errorf("another seal: %v", err)
	}
	q = histogram(4, 2, 11, "2")
	other := must(shuffle.New(q))
	if _, _, err := other.OpenFirst(first, envelope); !errors.Is(err, shuffle.ErrEnvelope) {
		t.Errorf("another question: %v", err)
	}
	for i := 0; i < len(envelope); i += 37 {
		envelope[i] ^= 1
		if _, _, err := p.OpenFirst(first, envelope); !errors.Is(err, shuffle.ErrEnvelope) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		envelope[i] ^= 1
	}
	if _, _, err := p.OpenFirst(first, envelope[1:]); !errors.Is(err, shuffle.ErrEnvelope) {
		t.Errorf("cut off: %v", err)
	}
	// A message that is no answer is refused by the analyzer.
	wild := must(p.Seal(keys, t1, t2, 0, []int{4, 0, 0}))
	_, bundle, _ = p.OpenFirst(first, wild)
	_, _, sealed, _ = p.OpenLast(last, bundle)
	if _, err := p.OpenMessage(analyzer, sealed[:shuffle.SealedMessage]); !errors.Is(err, shuffle.ErrEnvelope) {
		t.Errorf("an answer that is none: %v", err)
	}

	// A token is for one shuffler, one question and one issuer.
	stranger := must(rsa.GenerateKey(rand.Reader, shuffle.TokenBits))
	forged := t1
	forged[0] ^= 1
	for name, err := range map[string]error{
		"the other shuffler's": p.Verify(&issuer.PublicKey, shuffle.Last, t1),
		"another question's":   other.Verify(&issuer.PublicKey, shuffle.First, t1),
		"another issuer's":     p.Verify(&stranger.PublicKey, shuffle.First, t1),
		"another nonce":        p.Verify(&issuer.PublicKey, shuffle.First, forged),
	} {
		if !errors.Is(err, shuffle.ErrToken) {
			t.Errorf("%s token: %v", name, err)
		}
	}
	r := must(p.RequestToken(&issuer.PublicKey, shuffle.First))
	// What is blinded for one key may be too large for another, whose holder then has no answer.
	if signed, err := shuffle.SignBlinded(stranger, r.Blinded); err == nil {
		if _, err := r.Finish(signed); err == nil {
			t.Error("an answer of another issuer was taken")
		}
	}
}

// Where a question has no crowds, the last shuffler reads none.
func TestCrowdsThatNobodyAskedFor(t *testing.T) {
	p := must(shuffle.New(histogram(4, 0, 10, "2")))
	key := must(shuffle.NewKey())
	keys := shuffle.Keys{First: key.PublicKey(), Last: key.PublicKey(), Analyzer: key.PublicKey()}
	_, bundle, err := p.OpenFirst(key, must(p.Seal(keys, shuffle.Token{}, shuffle.Token{}, 77, []int{1})))
	if err != nil {
		t.Fatal(err)
	}
	if _, crowd, _, err := p.OpenLast(key, bundle); err != nil || crowd != 0 {
		t.Errorf("the last shuffler reads the crowd %d, %v", crowd, err)
	}
}

func TestQuestionsThatAreRefused(t *testing.T) {
	for name, change := range map[string]func(q *shuffle.Question){
		"kind":        func(q *shuffle.Question) { q.Kind = "mean" },
		"one answer":  func(q *shuffle.Question) { q.Answers = 1 },
		"batch":       func(q *shuffle.Question) { q.Batch = 1 },
		"colluders":   func(q *shuffle.Question) { q.Colluders = q.Batch - 1 },
		"no epsilon":  func(q *shuffle.Question) { q.Epsilon = privacy.Epsilon{} },
		"no delta":    func(q *shuffle.Question) { q.Delta = privacy.Delta{} },
		"fakes":       func(q *shuffle.Question) { q.Fakes = -1 },
		"bounds":      func(q *shuffle.Question) { q.Lower, q.Upper = big.NewRat(0, 1), big.NewRat(1, 1) },
		"no bounds":   func(q *shuffle.Question) { q.Kind = shuffle.Sum },
		"empty range": func(q *shuffle.Question) { q.Kind, q.Lower, q.Upper = shuffle.Sum, big.NewRat(1, 1), big.NewRat(1, 1) },
		"crowds": func(q *shuffle.Question) {
			q.Crowds = &shuffle.Crowd{Epsilon: q.Epsilon, Delta: q.Delta, Threshold: 1}
		},
	} {
		q := histogram(4, 2, 10, "2")
		change(&q)
		if _, err := shuffle.New(q); !errors.Is(err, shuffle.ErrParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
