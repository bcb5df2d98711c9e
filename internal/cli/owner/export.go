package owner

import (
	"context"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/display"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people/journal"
	"github.com/discreet-dp/discreet/privacy"
)

// An exported record is one of the ledger, for auditors. Its hash is the chain's.
type exported struct {
	Record      int64             `json:"record"`
	Kind        string            `json:"kind"`
	Time        time.Time         `json:"time,omitzero"`
	User        string            `json:"user,omitempty"`
	Domain      string            `json:"domain,omitempty"`
	Analyst     string            `json:"analyst,omitempty"`
	Statement   string            `json:"statement,omitempty"`
	Canonical   string            `json:"canonical,omitempty"`
	Charge      *filter.Amounts   `json:"charge,omitempty"`
	Spent       *filter.Amounts   `json:"spent,omitempty"` // by the domain, after this record
	Delta       privacy.Delta     `json:"delta,omitzero"`
	Events      []privacy.Event   `json:"events,omitempty"`
	Parameters  json.RawMessage   `json:"parameters,omitempty"`
	Certificate json.RawMessage   `json:"certificate,omitempty"`
	Holders     []string          `json:"holders,omitempty"`
	Reservation int64             `json:"reservation,omitempty"`
	Sharpens    int64             `json:"sharpens,omitempty"`
	Precision   *ledger.Precision `json:"precision,omitempty"` // that the average serves as
	Approval    int64             `json:"approval,omitempty"`
	Answered    bool              `json:"answered,omitempty"`
	Rule        *ledger.Rule      `json:"rule,omitempty"`
	Guards      []ledger.Guarded  `json:"guards,omitempty"`
	Note        string            `json:"note,omitempty"`
	Why         string            `json:"why,omitempty"`
	Hash        string            `json:"hash"`
}

func exportedOf(e ledger.Entry) exported {
	x := exported{Record: e.Seq, Kind: e.Kind, Time: e.Time, User: e.User.String(), Domain: e.Domain, Analyst: e.Analyst, Statement: e.Statement, Canonical: e.Canonical,
		Delta: e.Delta, Events: e.Events, Parameters: e.Parameters, Certificate: e.Certificate, Holders: e.Holders, Reservation: e.Reservation, Sharpens: e.Sharpens, Precision: e.Precision, Approval: e.Approval,
		Answered: e.Committed, Rule: e.Rule, Guards: e.Guards, Note: e.Note, Why: e.Why, Hash: hex.EncodeToString(e.Hash)}
	if len(e.Charge.Positive()) > 0 {
		x.Charge = &e.Charge
	}
	if len(e.Spent.Positive()) > 0 {
		x.Spent = &e.Spent
	}
	return x
}

// export writes the ledger's records, or the journal's, for auditors.
func (o *ownership) export(ctx context.Context) (string, error) {
	o.Resolve()
	w := writer{to: o.terminal.Out, csv: csv.NewWriter(o.terminal.Out), table: o.format == "csv"}
	if o.journal {
		err := journal.Read(ctx, o.LedgerPath+journal.Suffix, func(r journal.Record) error { return w.write(journalFields, r) })
		if errors.Is(err, fs.ErrNotExist) {
			return "", diagnostic.New("D113", diagnostic.Span{}, "there is no journal beside %s", o.LedgerPath).Because("a server keeps one, and none has run yet")
		}
		return "", w.end(err, journalFields)
	}
	if err := o.OpenLedger(ctx); err != nil {
		return "", err
	}
	history, err := o.Ledger.History(ctx)
	for _, e := range history {
		if err == nil {
			err = w.write(ledgerFields, exportedOf(e))
		}
	}
	return "", w.end(err, ledgerFields)
}

// The columns of CSV: those that are no texts are JSON.
var (
	ledgerFields = []string{"record", "kind", "time", "user", "domain", "analyst", "statement", "canonical", "charge", "spent", "delta", "events", "parameters", "certificate",
		"holders", "reservation", "sharpens", "precision", "approval", "answered", "rule", "guards", "note", "why", "hash"}
	journalFields = []string{"record", "time", "kind", "stranger", "account", "door", "address", "detail", "count", "hash"}
)

// A writer writes records as lines of JSON, or as a table in CSV.
type writer struct {
	to    io.Writer
	csv   *csv.Writer
	table bool
	began bool
}

func (w *writer) write(fields []string, record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	if !w.table {
		_, err := fmt.Fprintf(w.to, "%s\n", plain(line))
		return err
	}
	var cells map[string]json.RawMessage
	if err := json.Unmarshal(line, &cells); err != nil {
		return fmt.Errorf("encode record: %w", err)
	}
	if err := w.head(fields); err != nil {
		return err
	}
	row := make([]string, len(fields))
	for i, f := range fields {
		if row[i], err = cell(cells[f]); err != nil {
			return err
		}
	}
	return w.csv.Write(row)
}

func (w *writer) head(fields []string) error {
	if w.began {
		return nil
	}
	w.began = true
	return w.csv.Write(fields)
}

func (w *writer) end(err error, fields []string) error {
	if err != nil || !w.table {
		return err
	}
	if err := w.head(fields); err != nil {
		return err
	}
	w.csv.Flush()
	return w.csv.Error()
}

// plain escapes what JSON leaves and a reader's screen would hide or turn.
func plain(line []byte) string {
	var b strings.Builder
	for _, r := range string(line) {
		if r < utf8.RuneSelf || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// cell is a value in a table: a text as it is printed, and never a formula.
func cell(value json.RawMessage) (string, error) {
	if len(value) == 0 || value[0] != '"' {
		return plain(value), nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", fmt.Errorf("encode record: %w", err)
	}
	return terminal.Printable(display.Inert(text)), nil
}
