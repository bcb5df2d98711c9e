package query

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/bind"
	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/declaration"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/privacy"
)

// shellCommands are what begins with a backslash, and what each does.
var shellCommands = [][2]string{
	{`\d [TABLE]`, "what may be asked about"},
	{`\budget`, "what was spent and what is left"},
	{`\explain [SELECT ...]`, "what a statement, or the last one, would cost and be worth; free"},
	{`\accuracy [ERROR | off]`, "the error that values may have, as 150 or 2%: the least is spent that reaches it"},
	{`\rho [R | off]`, "what a statement may cost"},
	{`\epsilon [E | off]`, "the same, in the other measures"},
	{`\delta [D | off]`, "with either, where it is needed"},
	{`\most [AMOUNT | off]`, "the bound of what an accuracy costs, in the measure of the domain"},
	{`\confidence [C | off]`, "of the intervals"},
	{`\plot [on | off]`, "draw answers that have groups"},
	{`\format [table | csv | json]`, "how answers are printed"},
	{`\wide [on | off]`, "print tables whole, also those wider than the terminal"},
	{`\consistent [on | off]`, "show what data could have: no negative counts"},
	{`\together [on | off]`, "make intervals so wide that all of an answer hold at once"},
	{`\fresh [on | off]`, "pay anew for what was answered before"},
	{`\free [on | off]`, "charge nothing: what is stored answers, as precise as it is"},
	{`\history`, "what was asked in this session"},
	{`\?`, "this list"},
	{`\q`, "leave"},
}

// widened is what shows the whole of a table.
const widened = `\wide on`

// do runs a command that begins with a backslash.
func (s *shell) do(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(strings.TrimSuffix(line, ";"), " ")
	argument = strings.TrimSpace(argument)
	o := &s.options
	switch name {
	case `\d`, `\dt`:
		return showTables(s.t, s.w.Catalog, argument, s.t.JSON)
	case `\budget`:
		if s.w.Ledger == nil {
			if err := s.w.OpenLedger(context.WithoutCancel(ctx)); err != nil {
				return err
			}
		}
		b, err := readBudget(ctx, s.w.Ledger)
		if err != nil {
			return err
		}
		writeBudget(s.t, b, 10)
		return nil
	case `\explain`:
		if argument == "" {
			argument = s.last
		}
		if argument == "" {
			return refused("there is no statement yet").Try(`\explain SELECT ...`)
		}
		return s.explain(ctx, argument)
	case `\accuracy`:
		return s.set(name, argument, o.Accuracy.String(), func() { o.Accuracy = discreet.Accuracy{} }, func() (err error) {
			if o.Accuracy, err = discreet.ParseAccuracy(argument); err == nil {
				o.Spend.Epsilon, o.Spend.Rho = privacy.Epsilon{}, privacy.Rho{} // one of the two is meant
			}
			return err
		})
	case `\rho`:
		return amount(s, name, argument, &o.Spend.Rho, privacy.ParseRho, true)
	case `\epsilon`:
		return amount(s, name, argument, &o.Spend.Epsilon, privacy.ParseEpsilon, true)
	case `\delta`:
		return amount(s, name, argument, &o.Spend.Delta, privacy.ParseDelta, false)
	case `\most`:
		if s.concentrated() {
			return amount(s, name, argument, &o.AtMost.Rho, privacy.ParseRho, false)
		}
		return amount(s, name, argument, &o.AtMost.Epsilon, privacy.ParseEpsilon, false)
	case `\confidence`:
		now := ""
		if o.Confidence != 0 {
			now = strconv.FormatFloat(o.Confidence, 'g', -1, 64)
		}
		return s.set(name, argument, now, func() { o.Confidence = 0 }, func() error {
			c, err := strconv.ParseFloat(argument, 64)
			if err != nil || !(c > 0 && c < 1) {
				return diagnostic.New("D075", diagnostic.Span{}, "confidence %s is not between 0 and 1", argument).Try("give something like 0.95")
			}
			o.Confidence = c
			return nil
		})
	case `\plot`:
		on := s.format.plot != ""
		err := s.toggle(name, argument, &on)
		if s.format.plot = ""; on {
			s.format.plot = terminal.Here
		}
		return err
	case `\wide`:
		on := s.t.Wide()
		err := s.toggle(name, argument, &on)
		s.t.WidenBy(widened, on)
		return err
	case `\consistent`:
		return s.toggle(name, argument, &o.Consistent)
	case `\together`:
		return s.toggle(name, argument, &o.Together)
	case `\fresh`:
		return s.toggle(name, argument, &o.Fresh)
	case `\free`:
		return s.toggle(name, argument, &o.Free)
	case `\format`:
		return s.set(name, argument, s.format.form, func() { s.form("table") }, func() error {
			if !slices.Contains([]string{"table", "csv", "json"}, argument) {
				return refused(`\format %s`, argument).Because("there are table, csv and json").Try(`\format table`)
			}
			s.form(argument)
			return nil
		})
	case `\history`:
		if s.editor != nil {
			for _, entry := range s.editor.History() {
				fmt.Fprintln(s.t.Out, terminal.Printable(entry))
			}
		}
		return nil
	case `\?`, `\help`, `\h`:
		g := terminal.Grid{{Title: "command"}, {Title: "what it does"}}
		for _, c := range shellCommands {
			g[0].Cells, g[1].Cells = append(g[0].Cells, c[0]), append(g[1].Cells, c[1])
		}
		g.Write(s.t.Out)
		return nil
	case `\q`, `\quit`:
		return errQuit
	}
	return refused("%s is no command", terminal.Printable(name)).Try(`\? lists them`)
}

func (s *shell) form(name string) { s.format.form, s.t.JSON = name, name == "json" }

// concentrated reports whether amounts are rho: in the domains of the catalog, of which there is
// mostly one.
func (s *shell) concentrated() bool {
	for _, d := range s.w.Catalog.Domains {
		if d.Measure == "zcdp" || d.Measure == "rdp" {
			return true
		}
	}
	return false
}

// set shows a setting, removes it, or changes it.
func (s *shell) set(name, argument, now string, remove func(), change func() error) error {
	switch argument {
	case "":
		if now == "" {
			now = "not set"
		}
		fmt.Fprintln(s.t.Out, strings.TrimPrefix(name, `\`)+": "+now)
		return nil
	case "off", "default":
		remove()
		return nil
	}
	return change()
}

func (s *shell) toggle(name, argument string, to *bool) error {
	now := map[bool]string{true: "on", false: "off"}[*to]
	return s.set(name, argument, now, func() { *to = false }, func() error {
		if argument != "on" {
			return refused("%s %s", name, argument).Because("it is on or off")
		}
		*to = true
		return nil
	})
}

// amount sets an amount; one that is the cost itself takes the place of an accuracy, and of the cost in
// the other measure.
func amount[A interface {
	Sign() int
	String() string
}](s *shell, name, argument string, to *A, parse func(string) (A, error), cost bool) error {
	now := ""
	if (*to).Sign() > 0 {
		now = (*to).String()
	}
	var none A
	return s.set(name, argument, now, func() { *to = none }, func() error {
		a, err := parse(argument)
		if err != nil || a.Sign() == 0 {
			return refused("%s %s", name, argument).Because("it is no amount above 0").Try("%s 0.01", name)
		}
		if cost {
			s.options.Accuracy, s.options.Spend.Epsilon, s.options.Spend.Rho = discreet.Accuracy{}, privacy.Epsilon{}, privacy.Rho{}
		}
		*to = a
		return nil
	})
}

// sqlWords are proposed where no name fits.
var sqlWords = []string{"and", "as", "asc", "between", "by", "case", "cross", "desc", "distinct", "else", "end", "exists", "explain", "false", "filter",
	"from", "full", "group", "having", "in", "inner", "interval", "is", "join", "left", "like", "limit", "not", "null", "offset", "on", "or", "order",
	"over", "partition", "right", "select", "then", "true", "union", "using", "values", "when", "where", "with", "within"}

// complete proposes what the last word of a line may become: a command, a table after FROM and
// JOIN, a column of a table that is named, and elsewhere all that there is. It reads the
// catalog alone.
func (s *shell) complete(line string) (start int, words []string) {
	start = terminal.Word(line)
	word := line[start:]
	if strings.HasPrefix(word, `\`) {
		for _, c := range shellCommands {
			name, _, _ := strings.Cut(c[0], " ")
			words = append(words, name+" ")
		}
		return start, beginning(words, word)
	}
	declared, err := declaration.Tables(s.w.Catalog, "", math.MaxInt)
	if err != nil {
		return start, nil
	}
	before := strings.Fields(strings.ToLower(line[:start]))
	after := ""
	if len(before) > 0 {
		after = before[len(before)-1]
	}
	if table, column, dotted := strings.Cut(word, "."); dotted {
		for _, t := range declared {
			if strings.EqualFold(t.Table, table) {
				for _, c := range t.Columns {
					words = append(words, c.Name)
				}
			}
		}
		return start + len(table) + 1, beginning(words, column)
	}
	var tables, columns []string
	for _, t := range declared {
		tables = append(tables, t.Table)
		for _, c := range t.Columns {
			columns = append(columns, c.Name)
		}
	}
	switch after {
	case "from", "join", `\d`:
		return start, beginning(tables, word)
	}
	if word == "" {
		return start, nil
	}
	words = append(tables, columns...)
	for _, f := range bind.Aggregates() {
		words = append(words, f+"(")
	}
	for f := range bind.Functions() {
		words = append(words, f+"(")
	}
	return start, beginning(append(words, sqlWords...), word)
}

// beginning keeps the words that begin so, each once, in the case that was written.
func beginning(words []string, with string) (kept []string) {
	for _, w := range words {
		if len(w) >= len(with) && strings.EqualFold(w[:len(with)], with) {
			kept = append(kept, with+w[len(with):])
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}
