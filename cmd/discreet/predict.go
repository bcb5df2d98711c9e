package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"math"
	"strconv"
	"time"
)

func predictCommand() *Command {
	c := &Command{
		UsageLine: "predict --model-file MODEL --table TABLE|--csv FILE|--images FILE [flags]",
		For:       owner,
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
	p.workplace.define(&c.Flags)
	p.exampleFlags.define(&c.Flags, "images", "")
	c.Flags.StringVar(&p.model, "model-file", "", "the model's `FILE`")
	p.statement.defineAnalyst(&c.Flags)
	c.Flags.BoolVar(&p.json, "json", false, "print JSON")
	c.Run = func(ctx context.Context, t *terminal, args []string) error {
		t.json = p.json
		if err := none(c, args); err != nil {
			return err
		}
		if err := p.one(c); err != nil {
			return err
		}
		defer p.close()
		return p.run(ctx, t)
	}
	return c
}

// A predicting is one run of the command.
type predicting struct {
	workplace
	exampleFlags
	statement
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

func (p *predicting) run(ctx context.Context, t *terminal) error {
	m, err := loadModel(p.model)
	if err != nil {
		return err
	}
	p.asTable = true
	if err := p.open(&p.workplace); err != nil {
		return err
	}
	p.tell(t)
	m.forget()
	if err := m.fits(ctx, &p.exampleFlags); err != nil {
		return err
	}
	if p.table != "" && !p.public {
		if err := p.openGuarding(ctx); err != nil {
			return err
		}
		if _, _, err := p.recorder(ctx); err != nil {
			return err
		}
		if err := p.ledger.Access(ctx, p.domain().ID, cmp.Or(p.Analyst, defaultAnalyst()), "predict: "+p.source(), time.Now()); err != nil {
			return err
		}
		t.say("PRIVATE: predictions show the records that they are of; for the owner alone, and recorded in the ledger")
	}
	set, err := m.read(ctx, &p.workplace, &p.exampleFlags, math.MaxInt32)
	if err != nil {
		return err
	}
	outputs, err := m.outputs(ctx, t, set)
	if err != nil {
		return err
	}
	s := m.scorer()
	all := make([]prediction, set.Len())
	for i := range all {
		out := outputs[i*s.scores() : (i+1)*s.scores()]
		all[i].Row = i
		if s.names != nil {
			for _, x := range out {
				all[i].Outputs = append(all[i].Outputs, float64(x))
			}
			continue
		}
		if s.classes == 0 {
			x := s.number(out)
			all[i].Value = &x
			continue
		}
		all[i].Probabilities = s.probabilities(out)
		all[i].Class = m.class(class(all[i].Probabilities))
	}
	if p.json {
		return t.writeJSON(struct {
			Model       string       `json:"model"`
			Data        string       `json:"data"`
			Classes     []string     `json:"classes,omitempty"`
			Outputs     []string     `json:"outputs,omitempty"`
			Predictions []prediction `json:"predictions"`
		}{p.model, p.source(), m.data.Classes, s.names, all})
	}
	return p.write(t, m, all)
}

// write prints CSV.
func (p *predicting) write(t *terminal, m *model, all []prediction) error {
	w := csv.NewWriter(t.out)
	head := []string{"row", "prediction"}
	if names := m.scorer().names; names != nil {
		head = append(head[:1], names...)
	} else {
		for i := range m.scorer().classes {
			head = append(head, "probability "+m.class(i))
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
