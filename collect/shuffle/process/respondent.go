package process

import (
	"bytes"
	"context"
	"crypto/hpke"
	"crypto/rsa"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/noise"
)

// Respondents are the devices of those who answer, or what stands for them in a trial. What
// they send to the first shuffler is sealed; nothing of an answer leaves them otherwise.
type Respondents struct {
	station *cluster.Station
	p       *shuffle.Protocol
	keys    shuffle.Keys
	issuer  *rsa.PublicKey
}

// ErrKey is wrapped by the refusal of a reader that tells one respondent another key than all.
var ErrKey = errors.New("it could tell respondents apart")

// NewRespondents learns the keys of all readers from the issuer, who tells all respondents the
// same, and refuses where a role tells another key of its own, or shufflers and issuer do not
// name one key of the issuer.
func NewRespondents(ctx context.Context, s *cluster.Station) (*Respondents, error) {
	p, err := protocol(s)
	if err != nil {
		return nil, err
	}
	r := &Respondents{station: s, p: p}
	issuer, err := keyOf(ctx, s, p, Issuer)
	if err != nil {
		return nil, err
	}
	if r.issuer, err = publicIssuer(issuer.Issuer); err != nil {
		return nil, err
	}
	told := map[string]string{}
	for _, peer := range readers() {
		k, err := keyOf(ctx, s, p, peer)
		if err != nil {
			return nil, err
		}
		if peer != Analyzer && k.Issuer != issuer.Issuer {
			return nil, fmt.Errorf("%s knows another key of the issuer: %w", peer, ErrKey)
		}
		told[peer] = k.Key
	}
	var known map[string]string
	if err := retry(ctx, func() error { return ask(ctx, s, Issuer, http.MethodGet, "/readers", nil, &known) }); err != nil {
		return nil, err
	}
	for peer, to := range map[string]*hpke.PublicKey{Hop1: &r.keys.First, Hop2: &r.keys.Last, Analyzer: &r.keys.Analyzer} {
		if told[peer] != known[peer] {
			return nil, fmt.Errorf("%s tells a key that the issuer does not know of it: %w", peer, ErrKey)
		}
		if *to, err = publicReader(known[peer]); err != nil {
			return nil, fmt.Errorf("read the key of %s: %w", peer, err)
		}
	}
	return r, nil
}

// Protocol is the question that they are asked.
func (r *Respondents) Protocol() *shuffle.Protocol { return r.p }

// An Answer is one respondent's.
type Answer struct {
	Code   string   // by which the respondent is enrolled
	Answer int      // of a histogram
	Number *big.Rat // of a sum; nil is told as a random level
	Crowd  uint64
}

// Prepare makes the envelopes of respondents, one each: it randomizes their answers, gets
// tokens and seals. Envelopes are kept until they are delivered and sent again as they are: a
// new one for the same answer would be a second report.
//
// A respondent to whom the issuer gives no tokens has no envelope (nil), and takes none from
// others: the error joins why, beside the envelopes of the others. For any other error there
// are none.
func (r *Respondents) Prepare(ctx context.Context, answers []Answer) (envelopes [][]byte, err error) {
	return r.prepare(ctx, answers, nil, 1)
}

// prepare counts respondents from first on. Their tokens are made of seeds; nil draws them.
func (r *Respondents) prepare(ctx context.Context, answers []Answer, seeds [][]byte, first int) (envelopes [][]byte, err error) {
	random := noise.NewStream(entropy.New())
	var refused []error
	for from := 0; from < len(answers); from += maxSignings {
		some := answers[from:min(from+maxSignings, len(answers))]
		var of [][]byte
		if seeds != nil {
			of = seeds[from:min(from+maxSignings, len(seeds))]
		}
		tokens, problems, err := r.tokens(ctx, some, of)
		if err != nil {
			return nil, err
		}
		for i, a := range some {
			if problems[i] != nil {
				refused = append(refused, fmt.Errorf("respondent %d: %w", first+from+i, problems[i]))
				envelopes = append(envelopes, nil)
				continue
			}
			value := a.Answer
			if r.p.Kind == shuffle.Sum {
				if value, err = r.p.Level(random, a.Number); err != nil {
					return nil, err
				}
			}
			messages, err := r.p.Respond(random, value)
			if err != nil {
				return nil, err
			}
			e, err := r.p.Seal(r.keys, tokens[i][0], tokens[i][1], a.Crowd, messages)
			if err != nil {
				return nil, err
			}
			envelopes = append(envelopes, e)
		}
	}
	return envelopes, errors.Join(refused...)
}

// Report prepares and delivers, some at a time. What a code's tokens are made of is on stable
// storage, in the member's folder, before the issuer is asked, and its envelope before it is
// sent: who was killed, or lost a connection, and reports by the same codes again goes on where
// it ended. An envelope that was made stays, whatever the answer is by then.
func (r *Respondents) Report(ctx context.Context, answers []Answer) (all Tally, err error) {
	box, err := openOutbox(ctx, r.station)
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, box.db.Close()) }()
	var refused []error
	for from := 0; from < len(answers); from += maxReports {
		some := answers[from:min(from+maxReports, len(answers))]
		t, err := r.report(ctx, box, some, from+1, &refused)
		all.Accepted, all.Repeated, all.Refused = all.Accepted+t.Accepted, all.Repeated+t.Repeated, all.Refused+t.Refused
		if err != nil {
			return all, errors.Join(append(refused, err)...)
		}
	}
	return all, errors.Join(refused...)
}

// report reports those of one request, who are counted from first on.
func (r *Respondents) report(ctx context.Context, box *outbox, answers []Answer, first int, refused *[]error) (t Tally, err error) {
	kept, err := box.begin(ctx, answers)
	if err != nil {
		return t, err
	}
	// Runs of respondents without an envelope are prepared together.
	for from := 0; from < len(kept); {
		to := from
		for to < len(kept) && kept[to].envelope == nil {
			to++
		}
		if to == from {
			from++
			continue
		}
		seeds := make([][]byte, 0, to-from)
		for _, k := range kept[from:to] {
			seeds = append(seeds, k.seed)
		}
		envelopes, err := r.prepare(ctx, answers[from:to], seeds, first+from)
		if envelopes == nil {
			return t, err
		}
		if err != nil {
			*refused = append(*refused, err)
		}
		for i, e := range envelopes {
			kept[from+i].envelope = e
		}
		from = to
	}
	if err := box.keep(ctx, kept); err != nil {
		return t, err
	}
	envelopes := make([][]byte, len(kept))
	for i, k := range kept {
		envelopes[i] = k.envelope
	}
	if t, err = r.Deliver(ctx, envelopes); err != nil {
		return t, err
	}
	return t, box.end(ctx, kept)
}

// tokens has two tokens signed for each respondent, or says why he has none.
func (r *Respondents) tokens(ctx context.Context, answers []Answer, seeds [][]byte) (tokens [][2]shuffle.Token, problems []error, err error) {
	requests := make([][2]*shuffle.TokenRequest, len(answers))
	asked := make([]signing, len(answers))
	for i, a := range answers {
		asked[i].Code = a.Code
		var seed []byte
		if seeds != nil {
			seed = seeds[i]
		} else if seed, err = shuffle.NewTokenSeed(); err != nil {
			return nil, nil, err
		}
		for j, by := range []shuffle.Reader{shuffle.First, shuffle.Last} {
			request, err := r.p.RequestTokenOf(seed, r.issuer, by)
			if err != nil {
				return nil, nil, err
			}
			requests[i][j], asked[i].Blinded[j] = request, request.Blinded
		}
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, nil, err
	}
	var got []signatures
	if err := retry(ctx, func() error {
		return ask(ctx, r.station, Issuer, http.MethodPost, "/sign", bytes.NewReader(text), &got)
	}); err != nil {
		return nil, nil, err
	}
	if len(got) != len(answers) {
		return nil, nil, errors.New("the issuer answers for others")
	}
	tokens, problems = make([][2]shuffle.Token, len(answers)), make([]error, len(answers))
	for i, g := range got {
		if g.Problem != "" {
			problems[i] = &cluster.Problem{Type: g.Problem, Status: http.StatusForbidden}
			continue
		}
		for j := range tokens[i] {
			if tokens[i][j], err = requests[i][j].Finish(g.Signed[j]); err != nil {
				problems[i] = err
				break
			}
		}
	}
	return tokens, problems, nil
}

// Deliver sends envelopes to the first shuffler until it acknowledges all of them. Those that
// are nil are left out.
func (r *Respondents) Deliver(ctx context.Context, envelopes [][]byte) (all Tally, err error) {
	for from := 0; from < len(envelopes); from += maxReports {
		some := bytes.Join(envelopes[from:min(from+maxReports, len(envelopes))], nil)
		if len(some) == 0 {
			continue
		}
		var t Tally
		if err := retry(ctx, func() error { return ask(ctx, r.station, Hop1, http.MethodPost, "/reports", bytes.NewReader(some), &t) }); err != nil {
			return all, err
		}
		all.Accepted += t.Accepted
		all.Repeated += t.Repeated
		all.Refused += t.Refused
	}
	return all, nil
}

// retry does again what failed for want of the other side, until the context ends. What the
// other side refuses stays refused.
func retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		var p *cluster.Problem
		if err == nil || errors.As(err, &p) && p.Status < http.StatusInternalServerError {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// Enrol has the issuer take codes, as the member who asks.
func Enrol(ctx context.Context, s *cluster.Station, codes []string) error {
	for from := 0; from < len(codes); from += maxEnrolment {
		var e enrolment
		for _, code := range codes[from:min(from+maxEnrolment, len(codes))] {
			e.Codes = append(e.Codes, CodeDigest(code))
		}
		text, err := json.Marshal(e)
		if err != nil {
			return err
		}
		var done struct{ Enrolled int }
		if err := retry(ctx, func() error { return ask(ctx, s, Issuer, http.MethodPost, "/enrol", bytes.NewReader(text), &done) }); err != nil {
			return err
		}
	}
	return nil
}

// NewCodes returns codes for respondents, whom nobody can guess.
func NewCodes(n int) ([]string, error) {
	random, codes := entropy.New(), make([]string, n)
	for i := range codes {
		b := make([]byte, 16)
		if _, err := random.Read(b); err != nil {
			return nil, err
		}
		codes[i] = hex.EncodeToString(b)
	}
	return codes, nil
}

// Results asks the analyzer, as the member who asks.
func Results(ctx context.Context, s *cluster.Station) (*Result, error) {
	var r Result
	if err := ask(ctx, s, Analyzer, http.MethodGet, "/result", nil, &r); err != nil {
		return nil, err
	}
	return &r, nil
}
