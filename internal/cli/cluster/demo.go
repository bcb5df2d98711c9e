package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated/coordinator"
	"github.com/discreet-dp/discreet/collect/federated/node"
	"github.com/discreet-dp/discreet/collect/local"
	"github.com/discreet-dp/discreet/collect/multiparty"
	"github.com/discreet-dp/discreet/collect/shuffle"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// demoTime is how long the whole demo may take.
const demoTime = 10 * time.Minute

func (r runner) demo() *command.Command {
	c := &command.Command{
		UsageLine: "demo [--people N] [--epsilon E] [--plot FILE] [flags]",
		Short:     "one question in all models: their errors, and who is trusted with what",
		Long: `Asks how many of N made people smoke: a trusted curator; hospitals and parties that compute
together; hospitals that answer one by one; the people themselves, through shufflers and
alone. Each answer costs the same epsilon. The roles are processes of this machine, which
end with the command. With --dir their folder stays, to look at.`,
		Examples: [2]string{"discreet cluster demo", "discreet cluster demo --people 5000 --epsilon 0.5 --plot models.svg"},
	}
	c.PrintsTables()
	set := cluster.Settings{}
	for name, usage := range map[string]string{
		"people":    "`N` people, 20 to 20000 (default 1000)",
		"hospitals": "dealt out among `N` hospitals (default 3)",
		"parties":   "`N` parties add the noise for all hospitals (default 3)",
		"epsilon":   "an answer costs `E` (default 1)",
		"delta":     "and the shuffled one `D` beside it (default 1e-6)",
	} {
		c.Flags.Func(name, usage, func(text string) error {
			set[name] = text
			return nil
		})
	}
	dir := c.Flags.String("dir", "", "make the processes' folder at `DIR`, and leave it")
	draw := c.Flags.String("plot", "", "draw the answers into `FILE`.svg, or - here")
	wantJSON := c.Flags.Bool("json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = *wantJSON
		if err := command.None(c, args); err != nil {
			return err
		}
		if err := terminal.CheckPlot(*draw, false); err != nil {
			return err
		}
		limited, cancel := context.WithTimeout(ctx, demoTime)
		defer cancel()
		s, err := r.show(limited, t, set, *dir)
		if ctx.Err() != nil {
			return stopped("the demo has stopped, and its processes have ended", "whom it asked are made people; no ledger of yours was charged", "discreet cluster demo --people 100 takes a few seconds")
		}
		if err != nil {
			return refused(err)
		}
		if *wantJSON {
			if err := t.WriteJSON(s); err != nil {
				return err
			}
		} else {
			s.print(t)
		}
		if *draw != "" {
			return t.Draw(s.drawing(), *draw, false)
		}
		return nil
	}
	return c
}

// A comparison is one question in all models.
type comparison struct {
	Question string          `json:"question"`
	People   int             `json:"people"`
	Truth    int             `json:"truth"` // these people are made
	Epsilon  privacy.Epsilon `json:"epsilon"`
	Models   []answered      `json:"models"`
}

// answered is one model's answer.
type answered struct {
	Model     string   `json:"model"`
	Answer    float64  `json:"answer"`
	Off       float64  `json:"off"`      // from the truth, this time
	Expected  float64  `json:"expected"` // the standard deviation
	Delta     string   `json:"delta"`
	Processes int      `json:"processes"`
	Trusted   []string `json:"trusted"`
}

// show runs the demo in a folder: a temporary one that goes, if none is named.
func (r runner) show(ctx context.Context, t *terminal.Terminal, given cluster.Settings, dir string) (_ *comparison, err error) {
	set := cluster.Settings{}
	for _, of := range demoProfile().Settings {
		set[of.Name] = cmp.Or(given[of.Name], of.Default)
	}
	d := &demonstration{ctx: ctx, t: t}
	if d.crowd, err = readCrowd(set); err != nil {
		return nil, diagnostic.New("D230", diagnostic.Span{}, "%v", err).Try("discreet help cluster demo")
	}
	end := (*cluster.Cluster).Down
	if dir == "" {
		end = (*cluster.Cluster).Abandon // nothing of the folder is kept
		in := ""
		if in, err = os.MkdirTemp("", "discreet-models-"); err != nil {
			return nil, fmt.Errorf("make a folder for the demo: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(in)) }()
		dir = filepath.Join(in, demo)
	} else if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, diagnostic.New("D230", diagnostic.Span{}, "%s exists", dir).
			Because("the demo's hospitals have a budget for one answer, and its people answer once").Try("another --dir, or none")
	}
	o, err := r.options()
	if err != nil {
		return nil, err
	}
	// Whatever happens, no process outlives the command. What was not made cannot be loaded.
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), startTime)
		defer cancel()
		if on, cause := cluster.Load(dir, o); cause == nil {
			err = errors.Join(err, end(on, ending))
		}
	}()
	if err := d.do("starting the roles", func() (err error) {
		d.on, err = cluster.Up(ctx, dir, demo, set, o)
		return err
	}); err != nil {
		return nil, err
	}
	for person := range d.crowd.People {
		if smokes(person) {
			d.truth++
		}
	}
	s := &comparison{Question: "how many people smoke?", People: d.crowd.People, Truth: d.truth, Epsilon: d.crowd.Epsilon}
	for _, model := range []struct {
		name, doing string
		ask         func(*answered) error
	}{
		{"central", "a curator counts", d.central},
		{"multiparty", "hospitals and parties compute together", d.multiparty},
		{"federated", "hospitals answer one by one", d.federated},
		{"shuffle", "people answer through shufflers", d.shuffle},
		{"local", "people answer alone", d.local},
	} {
		a := answered{Model: model.name, Delta: "0"}
		if err := d.do(model.doing, func() error { return model.ask(&a) }); err != nil {
			return nil, fmt.Errorf("ask in the %s model: %w", model.name, err)
		}
		a.Off = math.Abs(a.Answer - float64(d.truth))
		s.Models = append(s.Models, a)
	}
	return s, nil
}

// A demonstration is one that runs.
type demonstration struct {
	ctx   context.Context
	t     *terminal.Terminal
	on    *cluster.Cluster
	crowd crowd
	truth int
}

func (d *demonstration) do(what string, f func() error) error {
	done := d.t.Busy(d.ctx, what)
	defer done()
	return f()
}

func (d *demonstration) member(name string) (*cluster.Station, error) {
	return cluster.Open(d.on.Folder(name), time.Now, slog.New(slog.DiscardHandler))
}

// deviation is that of discrete Laplace noise of scale 1/epsilon, n times.
func (d *demonstration) deviation(n int) float64 {
	e := d.crowd.Epsilon.Float64()
	return math.Sqrt(2*float64(n)*math.Exp(-e)) / -math.Expm1(-e)
}

// central counts, as a curator does who has all answers. One answer moves the count by one.
func (d *demonstration) central(a *answered) error {
	of, err := noise.NewDiscreteLaplace(new(big.Rat).Inv(d.crowd.Epsilon.Rat()))
	if err != nil {
		return err
	}
	z, err := of.Int64(noise.NewStream(noise.System()))
	if err != nil {
		return err
	}
	a.Answer, a.Expected = float64(int64(d.truth)+z), d.deviation(1)
	a.Trusted = []string{"the curator, with all answers and with adding the noise"}
	return nil
}

func (d *demonstration) local(a *answered) error {
	f, err := local.NewFrequency(local.FrequencyOptions{Protocol: local.Best, Values: 2, Epsilon: d.crowd.Epsilon})
	if err != nil {
		return err
	}
	bits, tally := noise.NewStream(noise.System()), f.NewTally()
	for person := range d.crowd.People {
		r, err := f.Randomize(bits, answer(person))
		if err == nil {
			err = tally.Add(r)
		}
		if err != nil {
			return err
		}
	}
	e, err := tally.Estimate(local.EstimateOptions{})
	if err != nil {
		return err
	}
	n := float64(d.crowd.People)
	a.Answer, a.Expected = e.Raw[1]*n, math.Sqrt(f.Variance(float64(d.truth)/n)*n)
	a.Trusted = []string{"nobody: an answer is randomized before it leaves its device"}
	return nil
}

// answer is a person's: 1 is yes.
func answer(person int) int {
	if smokes(person) {
		return 1
	}
	return 0
}

func (d *demonstration) shuffle(a *answered) error {
	owner, err := d.member(process.Owner)
	if err != nil {
		return err
	}
	client, err := d.member(process.Client)
	if err != nil {
		return err
	}
	codes, err := process.NewCodes(d.crowd.People)
	if err != nil {
		return err
	}
	if err := process.Enrol(d.ctx, owner, codes); err != nil {
		return err
	}
	people, err := process.NewRespondents(d.ctx, client)
	if err != nil {
		return err
	}
	answers := make([]process.Answer, len(codes))
	for person, code := range codes {
		answers[person] = process.Answer{Code: code, Answer: answer(person)}
	}
	if _, err := people.Report(d.ctx, answers); err != nil {
		return err
	}
	var r *process.Result
	if err := d.until(func() (done bool, err error) {
		r, err = process.Results(d.ctx, owner)
		return err == nil && r.Respondents >= int64(len(codes)), err
	}); err != nil {
		return err
	}
	a.Answer, a.Expected = r.Estimate.Counts[1], deviationOf(people.Protocol(), d.crowd.People, d.truth)
	a.Delta, a.Processes = d.crowd.Delta.String(), 4
	a.Trusted = []string{fmt.Sprintf("the issuer, who enrols and one of the two shufflers, not to work with the analyzer (beside a delta of %s)", a.Delta),
		fmt.Sprintf("for epsilon %v, nobody", r.Certificate.Local)}
	return nil
}

func deviationOf(p *shuffle.Protocol, people, truth int) float64 {
	return p.Deviation(int64(people), float64(truth)/float64(people))
}

// until asks again until it is done.
func (d *demonstration) until(done func() (bool, error)) error {
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-d.ctx.Done():
			return d.ctx.Err()
		case <-look.C:
		}
	}
}

func (d *demonstration) multiparty(a *answered) error {
	s, err := d.member(asker)
	if err != nil {
		return err
	}
	var cast multiparty.Cast
	if err := s.Decode(&cast); err != nil {
		return err
	}
	f, id, err := multiparty.AtStation(s, cast)
	if err != nil {
		return err
	}
	sql, err := multiparty.NewStatement(statement, &discreet.QueryOptions{Spend: discreet.Spend{Epsilon: d.crowd.Epsilon}})
	if err != nil {
		return err
	}
	said, err := multiparty.Ask(d.ctx, multiparty.AskOptions{Federation: f, Identity: id, Now: time.Now, Patience: time.Minute, Wait: sleep}, sql)
	if err != nil {
		return err
	}
	count, ok := said.Rows[0][0].(int64)
	if !ok {
		return fmt.Errorf("the count is %T", said.Rows[0][0])
	}
	a.Answer, a.Expected, a.Processes = float64(count), d.deviation(d.crowd.Parties), d.crowd.Hospitals+d.crowd.Parties
	a.Trusted = []string{"each hospital, with its own people's answers",
		fmt.Sprintf("one of the %d parties, not to work with the others", d.crowd.Parties)}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *demonstration) federated(a *answered) error {
	s, err := d.member(analyst)
	if err != nil {
		return err
	}
	const id = "smokers"
	var g coordinator.Progress
	q := &node.Query{Data: "people", Of: "sum", Column: "smokes", Upper: 1, Epsilon: d.crowd.Epsilon}
	if err := coordinator.Call(d.ctx, s, leader, "POST", "/runs", coordinator.Proposal{ID: id, Reason: "the demo's question", Query: q}, &g); err != nil {
		return err
	}
	if err := d.until(func() (bool, error) {
		err := coordinator.Call(d.ctx, s, leader, "GET", "/runs/"+id, nil, &g)
		return g.Phase == coordinator.Finished || g.Phase == coordinator.Failed, err
	}); err != nil {
		return err
	}
	if len(g.Answers) != d.crowd.Hospitals || len(g.Total) != 1 {
		return fmt.Errorf("%d of %d hospitals answered: %s", len(g.Answers), d.crowd.Hospitals, g.Why)
	}
	a.Answer, a.Processes = g.Total[0], d.crowd.Hospitals+1
	a.Expected = math.Sqrt(2*float64(d.crowd.Hospitals)) / d.crowd.Epsilon.Float64() // of a fine grid
	a.Trusted = []string{"each hospital, with its own people's answers and with adding the noise"}
	return nil
}

func (s *comparison) print(t *terminal.Terminal) {
	t.Print(fmt.Sprintf("%d people, of whom %d smoke; each answer costs epsilon %v", s.People, s.Truth, s.Epsilon), 0)
	columns := terminal.Grid{{Title: "model"}, {Title: "answer", Right: true}, {Title: "off by", Right: true}, {Title: "expected", Right: true}, {Title: "processes", Right: true}}
	for _, a := range s.Models {
		for i, cell := range []string{a.Model, tenths(a.Answer), tenths(a.Off), tenths(a.Expected), strconv.Itoa(a.Processes)} {
			columns[i].Cells = append(columns[i].Cells, cell)
		}
	}
	columns.Write(t.Out)
	t.Print("expected is the standard deviation. Who is trusted with what:", 0)
	for _, a := range s.Models {
		t.Print(fmt.Sprintf("  %-10s  %s", a.Model, strings.Join(a.Trusted, "; ")), 14)
	}
}

func tenths(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

func (s *comparison) drawing() plot.Estimates {
	e := plot.Estimates{
		Title:      fmt.Sprintf("%d people, of whom %d smoke, at epsilon %v", s.People, s.Truth, s.Epsilon),
		Quantities: []plot.Quantity{{Label: "how many smoke"}},
		Notes:      []string{"Whiskers: two standard deviations to each side."},
	}
	for _, a := range s.Models {
		e.Groups = append(e.Groups, a.Model)
		e.Quantities[0].Marks = append(e.Quantities[0].Marks, []plot.Estimate{{Value: a.Answer, Text: tenths(a.Answer),
			Range: plot.Range{Low: a.Answer - 2*a.Expected, High: a.Answer + 2*a.Expected}}})
	}
	return e
}
