package learn

import (
	"cmp"
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/internal/cli/command"
	"github.com/discreet-dp/discreet/internal/cli/input"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/learn/score"
)

// Predict is discreet predict.
func Predict() *command.Command {
	c := &command.Command{
		UsageLine: "predict --model-file MODEL --table TABLE|--csv FILE|--images FILE [flags]",
		For:       command.Owner,
		Short:     "what a model says of each record",
		Long: `One line a record, in the file's order: its number from 0, what is predicted, and of
classes the probability of each. The model may be used freely, whatever it was trained
on: that was paid for. But what it says of a private record shows that record. Of a
private table predictions are for the owner alone: who looked goes into the ledger,
nothing is charged, and the order of records is chance.`,
		Examples: [2]string{
			"discreet predict --model-file income.model --csv adult-test.csv > predictions.csv",
			"discreet predict --model-file digits.model --images t10k-images-idx3-ubyte.gz --json",
		},
	}
	var p predicting
	p.Workplace.Define(&c.Flags)
	p.Examples.Define(&c.Flags, "images", "")
	c.Flags.StringVar(&p.model, "model-file", "", "the model's `FILE`")
	p.Statement.DefineAnalyst(&c.Flags)
	c.Flags.BoolVar(&p.json, "json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal.Terminal, args []string) error {
		t.JSON = p.json
		if err := command.None(c, args); err != nil {
			return err
		}
		if err := p.One(c); err != nil {
			return err
		}
		defer p.Close()
		return p.run(ctx, t)
	}
	return c
}

// A predicting is one run of the command.
type predicting struct {
	workplace.Workplace
	input.Examples
	workplace.Statement
	model string
	json  bool
}

// A prediction is a line of its output.
type prediction struct {
	Row           int       `json:"row"`
	Class         string    `json:"class,omitempty"`
	Value         *float64  `json:"value,omitempty"`
	Probabilities []float64 `json:"probabilities,omitempty"`
	Outputs       []float64 `json:"outputs,omitempty"` // of a model that predicts nothing
}

func (p *predicting) run(ctx context.Context, t *terminal.Terminal) error {
	m, err := input.LoadModel(p.model)
	if err != nil {
		return err
	}
	p.AsTable, p.Screen = true, t
	if err := p.Open(&p.Workplace); err != nil {
		return err
	}
	p.Tell(t)
	m.Forget()
	if err := m.Fits(ctx, &p.Examples); err != nil {
		return err
	}
	if p.Table != "" && !p.Public {
		if err := p.OpenGuarding(ctx); err != nil {
			return err
		}
		if _, _, err := p.Recorder(ctx); err != nil {
			return err
		}
		if err := p.Ledger.Access(ctx, p.Domain().ID, cmp.Or(p.Analyst, workplace.DefaultAnalyst()), "predict: "+p.Source(), time.Now()); err != nil {
			return err
		}
		t.Say("PRIVATE: predictions show the records that they are of; for the owner alone, and recorded in the ledger")
	}
	set, err := m.Read(ctx, &p.Workplace, &p.Examples, math.MaxInt32)
	if err != nil {
		return err
	}
	outputs, err := m.Outputs(ctx, t, set)
	if err != nil {
		return err
	}
	s := m.Scorer()
	all := make([]prediction, set.Len())
	for i := range all {
		out := outputs[i*s.Width() : (i+1)*s.Width()]
		all[i].Row = i
		if s.Names != nil {
			for _, x := range out {
				all[i].Outputs = append(all[i].Outputs, float64(x))
			}
			continue
		}
		if s.Classes == 0 {
			x := s.Number(out)
			all[i].Value = &x
			continue
		}
		all[i].Probabilities = s.Probabilities(out)
		all[i].Class = m.Class(score.Class(all[i].Probabilities))
	}
	if p.json {
		return t.WriteJSON(struct {
			Model       string       `json:"model"`
			Data        string       `json:"data"`
			Classes     []string     `json:"classes,omitempty"`
			Outputs     []string     `json:"outputs,omitempty"`
			Predictions []prediction `json:"predictions"`
		}{p.model, p.Source(), m.Data.Classes, s.Names, all})
	}
	return p.write(t, m, all)
}

// write prints CSV.
func (p *predicting) write(t *terminal.Terminal, m *input.Model, all []prediction) error {
	w := csv.NewWriter(t.Out)
	head := []string{"row", "prediction"}
	if names := m.Scorer().Names; names != nil {
		head = append(head[:1], names...)
	} else {
		for i := range m.Scorer().Classes {
			head = append(head, "probability "+m.Class(i))
		}
	}
	if err := w.Write(head); err != nil {
		return err
	}
	for _, one := range all {
		line := []string{strconv.Itoa(one.Row), one.Class}
		if one.Value != nil {
			line[1] = strconv.FormatFloat(*one.Value, 'g', 8, 64)
		}
		if one.Outputs != nil {
			line = line[:1]
		}
		for _, x := range one.Outputs {
			line = append(line, strconv.FormatFloat(x, 'g', 6, 64))
		}
		for _, q := range one.Probabilities {
			line = append(line, strconv.FormatFloat(q, 'f', 6, 64))
		}
		if err := w.Write(line); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
