package noise

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/failure"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/numeric"
	"github.com/discreet-dp/discreet/mechanism"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

func randomizedResponseNoise() *command.Command {
	c := &command.Command{
		UsageLine: "randomized-response [--answers A,B,...] --truth P | --coins H1,H2 | --epsilon E --domain DOMAIN --value A,...",
		Short:     "each answer made deniable by itself: how many respond is known, what they say is not",
		Long: `Each value is one respondent's answer (default: yes or no), and is told with the
probability P, otherwise another one at random. With --coins the first coin shows
heads with probability H1, and then the second decides, which says yes with
probability H2; otherwise the truth is told. An answer that is not on the list gives
one at random. A unit has at most --max-rows answers. It protects what is answered,
not who answers: the domain's relation must be replace-one.

--estimate N,N,... takes how often each answer was given, in their order, and
estimates what is true of how many. That costs nothing and needs no ledger.`,
		Examples: [2]string{
			"discreet noise randomized-response --domain member --truth 0.75 --value yes",
			"discreet noise randomized-response --truth 0.75 --estimate 320,680",
		},
	}
	var n responding
	n.define(c)
	c.PrintsTables()
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = n.json
		if n.counts != nil {
			return n.estimate(t)
		}
		if err := n.read(ctx, t, args); err != nil {
			return err
		}
		if err := n.some(); err != nil {
			return err
		}
		return n.run(ctx, t, n.prepare)
	}
	return c
}

// A responding holds the flags of randomized response.
type responding struct {
	noising
	given   []string // private
	answers []string
	truth   *big.Rat
	coins   []*big.Rat
	rows    int64
	counts  []int64
}

func (n *responding) define(c *command.Command) {
	n.answers = []string{"yes", "no"}
	n.noising.define(c, texts(&n.given))
	n.definePure(&c.Flags)
	n.DefineConfidence(&c.Flags, "`C` of the intervals of an estimate, between 0 and 1 (default 0.95)")
	c.Flags.Func("answers", "the possible answers `A,B,...` (default yes,no)", func(text string) error {
		n.answers = nil
		for a := range strings.SplitSeq(text, ",") {
			if a = strings.TrimSpace(a); a == "" || indexOf(n.answers, a) >= 0 {
				return errors.New("an answer is empty or named twice")
			}
			n.answers = append(n.answers, a)
		}
		return nil
	})
	c.Flags.Func("truth", "tell the truth with probability `P`", exactNumber(&n.truth))
	c.Flags.Func("coins", "two coins show heads with probabilities `H1,H2`", func(text string) error {
		n.coins = nil
		for h := range strings.SplitSeq(text, ",") {
			r, err := numeric.ParseRat(strings.TrimSpace(h))
			if err != nil {
				return err
			}
			n.coins = append(n.coins, r)
		}
		if len(n.coins) != 2 {
			return errors.New("want two probabilities")
		}
		return nil
	})
	c.Flags.Func("max-rows", "a unit has at most `R` answers (default 1)", count(&n.rows))
	c.Flags.Func("estimate", "how often each answer was given, `N,...`: estimate what is true", func(text string) error {
		n.counts = []int64{}
		for part := range strings.SplitSeq(text, ",") {
			x, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
			if err != nil || x < 0 {
				return errors.New("want whole numbers")
			}
			n.counts = append(n.counts, x)
		}
		return nil
	})
}

func indexOf(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

// A responder is a kind of randomized response.
type responder struct {
	respond  func(bits noise.Bits, answer int) (int, error)
	estimate func(counts []int64, beta *big.Rat) ([]mechanism.Share, error)
	event    privacy.Event
}

// responder makes the mechanism that the flags describe.
func (n *responding) responder() (*responder, error) {
	ways := 0
	for _, given := range []bool{n.truth != nil, n.coins != nil, n.Spend.Epsilon.Sign() > 0 || n.Spend.Rho.Sign() > 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return nil, command.Missing("the probability of a true answer", "--truth P, --coins H1,H2 or --epsilon E")
	case ways > 1:
		return nil, diagnostic.New("D115", diagnostic.Span{}, "--truth, --coins and a cost exclude each other").
			Because("what a response costs follows from how often the truth is told")
	case n.coins != nil:
		return n.twoCoin()
	}
	o := mechanism.RandomizedResponseOptions{Answers: len(n.answers), Truth: n.truth}
	if n.truth == nil {
		var err error
		if o.Epsilon, err = n.epsilon(); err != nil {
			return nil, err
		}
	}
	m, err := mechanism.NewRandomizedResponse(o)
	if err != nil {
		return nil, err
	}
	return &responder{m.Respond, m.Estimate, m.Event()}, nil
}

func (n *responding) twoCoin() (*responder, error) {
	if len(n.answers) != 2 {
		return nil, diagnostic.New("D142", diagnostic.Span{}, "two coins decide between two answers").Try("--truth P for more")
	}
	m, err := mechanism.NewTwoCoin(mechanism.TwoCoinOptions{First: n.coins[0], Second: n.coins[1]})
	if err != nil {
		return nil, err
	}
	const yes, no = 0, 1
	return &responder{
		respond: func(bits noise.Bits, answer int) (int, error) {
			// An invalid answer is random: yes with probability 1/2, and then told like any other.
			if answer != yes && answer != no {
				heads, err := noise.Bernoulli(bits, big.NewRat(1, 2))
				if err != nil {
					return 0, err
				}
				if answer = no; heads {
					answer = yes
				}
			}
			says, err := m.Respond(bits, answer == yes)
			if says {
				return yes, err
			}
			return no, err
		},
		estimate: func(counts []int64, beta *big.Rat) ([]mechanism.Share, error) {
			s, err := m.Estimate(counts[yes], counts[yes]+counts[no], beta)
			other := mechanism.Share{Raw: 1 - s.Raw, Clipped: 1 - s.Clipped, Low: 1 - s.High, High: 1 - s.Low}
			return []mechanism.Share{s, other}, err
		},
		event: m.Event(),
	}, nil
}

func (n *responding) prepare(population) (*draw, error) {
	m, err := n.responder()
	if err != nil {
		return nil, err
	}
	d := &draw{event: m.event, answer: noised{Mechanism: "randomized_response"}}
	if n.rows > 1 {
		d.event = privacy.Repeat{Count: int(n.rows), Event: m.event}
	}
	d.release = func(bits noise.Bits, to *noised) error {
		for _, given := range n.given {
			i, err := m.respond(bits, indexOf(n.answers, given))
			if err != nil {
				return err
			}
			to.Choices = append(to.Choices, n.answers[i])
		}
		to.one()
		return nil
	}
	return d, nil
}

// An estimated is the share of respondents for whom an answer is true.
type estimated struct {
	Answer   string         `json:"answer"`
	Share    json.Number    `json:"share"`   // without bias; may lie outside of [0, 1]
	Clipped  json.Number    `json:"clipped"` // to [0, 1]
	Interval [2]json.Number `json:"interval"`
}

// estimate derives estimates from randomized answers. These are public, so it costs nothing.
func (n *responding) estimate(t *terminal.Terminal) error {
	m, err := n.responder()
	if err != nil {
		return failure.ParameterRefusal(err)
	}
	if len(n.counts) != len(n.answers) {
		return diagnostic.New("D142", diagnostic.Span{}, "%d counts for %d answers", len(n.counts), len(n.answers))
	}
	shares, err := m.estimate(n.counts, n.beta())
	if err != nil {
		return failure.ParameterRefusal(err)
	}
	var out []estimated
	for i, s := range shares {
		out = append(out, estimated{n.answers[i], terminal.JSONNumber(s.Raw), terminal.JSONNumber(s.Clipped), [2]json.Number{terminal.JSONNumber(s.Low), terminal.JSONNumber(s.High)}})
	}
	if n.json {
		return t.WriteJSON(map[string]any{"mechanism": "randomized_response", "estimate": out, "confidence": n.confidence()})
	}
	g := terminal.Grid{{Title: "answer"}, {Title: "share", Right: true}, {Title: "interval", Right: true}}
	for _, e := range out {
		for j, cell := range []string{terminal.Printable(e.Answer), terminal.Short(e.Share), "[" + terminal.Short(e.Interval[0]) + ", " + terminal.Short(e.Interval[1]) + "]"} {
			g[j].Cells = append(g[j].Cells, cell)
		}
	}
	g.Write(t.Out)
	return nil
}
