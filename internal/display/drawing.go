package display

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/sqltype"
)

// A drawing has room for so much. What it leaves out, it says.
const (
	maxGroups     = 60   // in rows
	maxPlaces     = 1000 // along a scale
	maxSeries     = 6
	maxQuantities = 9
)

// A roles says what the columns of an answer are in a drawing.
type roles struct {
	groups     []int
	quantities []int
	undrawn    []string // noisy, and no numbers
}

// rolesOf sorts columns: noisy numbers are drawn, what is exact names groups. Where
// nothing is noisy, the tables are public: numbers are drawn then, and the first column
// names groups.
func rolesOf(columns []discreet.Column) (r roles) {
	noisy := slices.ContainsFunc(columns, func(c discreet.Column) bool { return c.Noisy })
	for j, c := range columns {
		switch number := c.Type.IsNumeric(); {
		case number && (c.Noisy || !noisy && (j > 0 || len(columns) == 1)):
			r.quantities = append(r.quantities, j)
		case c.Noisy:
			r.undrawn = append(r.undrawn, Printable(c.Name))
		default:
			r.groups = append(r.groups, j)
		}
	}
	return r
}

// Drawable refuses to draw an answer without a number. It is asked before anything is
// charged.
func Drawable(columns []discreet.Column) error {
	if len(rolesOf(columns).quantities) > 0 {
		return nil
	}
	return diagnostic.New("D112", diagnostic.Span{}, "--plot has nothing to draw: the answer has no number").
		Because("it draws counts, sums and other numbers by group").Try("add count(*), or leave --plot out")
}

// A picture is an answer that is being drawn.
type picture struct {
	*discreet.Answer
	roles
	notes []string
	rows  []int         // of the answer
	texts [][2][]string // values and intervals by column, as the table has them
}

// Draw returns the drawing of an answer: of released numbers alone.
func Draw(a *discreet.Answer) plot.Drawing {
	p := picture{Answer: a, roles: rolesOf(a.Columns), texts: texts(a)}
	for i := range a.Rows {
		p.rows = append(p.rows, i)
	}
	constant := p.constants()
	if p.sayNames(); len(p.quantities) > maxQuantities {
		p.note("The first %d of %d columns of numbers are drawn.", maxQuantities, len(p.quantities))
		p.quantities = p.quantities[:maxQuantities]
	}
	title := p.title()
	if constant != "" {
		title += ", " + constant
	}
	if x, series, ok := p.scale(); ok {
		return p.along(title, x, series)
	}
	return p.table(title)
}

func (p *picture) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// constants takes out columns of groups that say the same in each of several rows, and
// returns what they say.
func (p *picture) constants() string {
	var same []string
	if len(p.Rows) > 1 {
		p.groups = slices.DeleteFunc(slices.Clone(p.groups), func(j int) bool {
			first := p.Rows[0][j]
			if slices.ContainsFunc(p.Rows, func(row []sqltype.Value) bool { return label(row[j]) != label(first) }) {
				return false
			}
			same = append(same, p.name(j)+": "+label(first))
			return true
		})
	}
	return strings.Join(same, ", ")
}

// sayNames says what the whiskers are, and what a reader must know.
func (p *picture) sayNames() {
	ranged, without := false, []string{}
	for _, j := range p.quantities {
		switch c := p.Columns[j]; {
		case c.Noisy && c.Why == "":
			ranged = true
		case c.Noisy:
			without = append(without, p.name(j))
		}
	}
	if len(p.Rows) == 0 {
		p.note("The answer has no rows.")
	} else if ranged {
		p.note("Whiskers: %s intervals of the noise; what bounds cut off is not covered.", Percent(p.Confidence))
	}
	if len(without) > 0 {
		p.note("No interval is known for %s.", strings.Join(without, ", "))
	}
	if len(p.undrawn) > 0 {
		p.note("Not drawn, no numbers: %s.", strings.Join(p.undrawn, ", "))
	}
	for _, k := range KeptWords(p.Kept) {
		p.note("%s", strings.ToUpper(k[:1])+k[1:]+".")
	}
}

func (p *picture) name(j int) string { return Printable(p.Columns[j].Name) }

func (p *picture) names(columns []int) string {
	all := make([]string, len(columns))
	for i, j := range columns {
		all[i] = p.name(j)
	}
	return strings.Join(all, ", ")
}

func (p *picture) title() string {
	title := p.names(p.quantities)
	if len(p.groups) > 0 {
		title += " by " + p.names(p.groups)
	}
	return title
}

// label is the name of a group.
func label(v sqltype.Value) string {
	if v == nil {
		return "NULL"
	}
	if s := Printable(sqltype.Format(v)); s != "" {
		return s
	}
	return `""`
}

// number is the place of a value on a scale; NaN if it has none.
func number(v sqltype.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case sqltype.Decimal:
		f, _ := v.Rat().Float64()
		return f
	case sqltype.Date:
		return float64(v) * 86400
	case sqltype.Timestamp:
		return float64(v) / 1e6
	case sqltype.Time:
		return float64(v) / 1e6
	}
	return math.NaN()
}

// kind is what the values of a column are on a scale.
func kind(t sqltype.Type) plot.Kind {
	switch {
	case t.Kind == sqltype.DateKind, t.Kind == sqltype.TimestampKind:
		return plot.Moments
	case t.Kind == sqltype.TimeKind:
		return plot.Clock
	case t.IsInteger():
		return plot.Keys
	}
	return plot.Amounts
}

// scale chooses the column of groups that is a scale, of time before numbers, and the one
// that tells series, or -1. There is a scale where one or two columns name the groups and
// each group has one row.
func (p *picture) scale() (x, series int, ok bool) {
	if len(p.groups) < 1 || len(p.groups) > 2 || len(p.rows) < 2 {
		return 0, 0, false
	}
	ranked := slices.SortedStableFunc(slices.Values(p.groups), func(a, b int) int {
		rank := func(j int) int {
			switch t := p.Columns[j].Type; {
			case t.IsTemporal():
				return 0
			case t.IsNumeric():
				return 1
			}
			return 2
		}
		return cmp.Compare(rank(a), rank(b))
	})
	x, series = ranked[0], -1
	if len(ranked) == 2 {
		series = ranked[1]
	}
	if t := p.Columns[x].Type; !t.IsTemporal() && !t.IsNumeric() {
		return 0, 0, false
	}
	places, seen := map[float64]bool{}, map[[2]string]bool{}
	for _, i := range p.rows {
		key := [2]string{label(p.Rows[i][x])}
		if series >= 0 {
			key[1] = label(p.Rows[i][series])
		}
		if seen[key] {
			return 0, 0, false
		}
		seen[key] = true
		if at := number(p.Rows[i][x]); !math.IsNaN(at) {
			places[at] = true
		}
	}
	return x, series, len(places) > 1
}

// A partition is rows by the text of a column, in the order in which they come.
type partition struct {
	names []string
	rows  map[string][]int
}

// member names a value of a column, which says itself what it is unless it is a number or
// a truth.
func (p *picture) member(column int, name string) string {
	if column < 0 || p.Columns[column].Type.Kind == sqltype.Text {
		return name
	}
	return p.name(column) + ": " + name
}

// split parts rows by a column, or not at all by -1.
func (p *picture) split(column int, rows []int) partition {
	parts := partition{rows: map[string][]int{}}
	for _, i := range rows {
		name := ""
		if column >= 0 {
			name = label(p.Rows[i][column])
		}
		if parts.rows[name] == nil {
			parts.names = append(parts.names, name)
		}
		parts.rows[name] = append(parts.rows[name], i)
	}
	return parts
}

// along draws the quantities over a scale. Points in time are joined; numbers can be
// codes, between which there is nothing.
func (p *picture) along(title string, x, series int) plot.Drawing {
	placed := slices.DeleteFunc(slices.Clone(p.rows), func(i int) bool { return math.IsNaN(number(p.Rows[i][x])) })
	if lost := len(p.rows) - len(placed); lost > 0 {
		p.note("Not drawn: %s where %s is NULL.", rowsText(lost), p.name(x))
	}
	slices.SortStableFunc(placed, func(a, b int) int { return cmp.Compare(number(p.Rows[a][x]), number(p.Rows[b][x])) })
	if len(placed) > maxPlaces {
		p.note("The first %d of %d rows are drawn.", maxPlaces, len(placed))
		placed = placed[:maxPlaces]
	}
	names := p.split(series, p.rows).names // in the answer's order
	rows := p.split(series, placed).rows
	if len(names) > maxSeries {
		p.note("The first %d of %d values of %s are drawn.", maxSeries, len(names), p.name(series))
		names = names[:maxSeries]
	}
	sheet := plot.Sheet{Title: title, About: p.Statement}
	missing := 0
	for _, j := range p.quantities {
		unit, divisor := p.unit(j)
		drawn := plot.Plot{X: plot.Axis{Label: p.name(x), Kind: kind(p.Columns[x].Type)}, Y: plot.Axis{Label: p.name(j) + unit}}
		for _, name := range names {
			line := plot.Line{Name: p.member(series, name), Loose: !p.Columns[x].Type.IsTemporal()}
			for _, i := range rows[name] {
				value := number(p.Rows[i][j]) / divisor
				if math.IsNaN(value) {
					missing++
				}
				line.Points = append(line.Points, plot.Point{X: number(p.Rows[i][x]), Y: value})
				line.Ranges = append(line.Ranges, p.interval(i, j, divisor))
			}
			drawn.Lines = append(drawn.Lines, line)
		}
		sheet.Plots = append(sheet.Plots, drawn)
	}
	if missing == 1 {
		p.note("One value is NULL: a gap.")
	} else if missing > 1 {
		p.note("%d values are NULL: gaps.", missing)
	}
	sheet.Notes = p.notes
	return sheet
}

func rowsText(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// table draws the quantities in a row for each group.
func (p *picture) table(title string) plot.Drawing {
	e := plot.Estimates{Title: title, About: p.Statement}
	groups, cells := p.cross()
	if len(groups.rows) > maxGroups {
		p.note("The first %d of %d groups are drawn.", maxGroups, len(groups.rows))
		groups.rows, cells = groups.rows[:maxGroups], cells[:maxGroups]
	}
	e.Groups = groups.rows
	for _, name := range groups.series {
		e.Series = append(e.Series, p.member(groups.by, name))
	}
	for _, j := range p.quantities {
		unit, divisor := p.unit(j)
		q := plot.Quantity{Label: p.name(j) + unit}
		for _, row := range cells {
			marks := make([]plot.Estimate, len(row))
			for s, i := range row {
				marks[s] = p.estimate(i, j, divisor)
			}
			q.Marks = append(q.Marks, marks)
		}
		e.Quantities = append(e.Quantities, q)
	}
	e.Notes = p.notes
	return e
}

// A grouping names rows and series.
type grouping struct {
	rows, series []string
	by           int // the column of the series
}

// cross lays rows out: with two columns of groups, of which one has few values, that one
// tells series; otherwise each row of the answer is one, named by all of its groups. A
// cell is -1 where the answer has no row.
func (p *picture) cross() (g grouping, cells [][]int) {
	if len(p.groups) == 2 {
		for _, series := range []int{p.groups[1], p.groups[0]} {
			if g, cells, ok := p.crossed(series); ok {
				return g, cells
			}
		}
	}
	for n, i := range p.rows {
		var parts []string
		for _, j := range p.groups {
			parts = append(parts, label(p.Rows[i][j]))
		}
		if len(p.groups) == 0 && len(p.rows) > 1 {
			parts = []string{fmt.Sprintf("row %d", n+1)}
		}
		g.rows, cells = append(g.rows, strings.Join(parts, ", ")), append(cells, []int{i})
	}
	return g, cells
}

// crossed lays rows out with one of two columns telling series, if it has few values and
// no two rows meet.
func (p *picture) crossed(series int) (g grouping, cells [][]int, ok bool) {
	other := p.groups[0]
	if other == series {
		other = p.groups[1]
	}
	g.by, g.series = series, p.split(series, p.rows).names
	if len(g.series) < 2 || len(g.series) > maxSeries {
		return g, nil, false
	}
	parts := p.split(other, p.rows)
	for _, name := range parts.names {
		cell := slices.Repeat([]int{-1}, len(g.series))
		for _, i := range parts.rows[name] {
			s := slices.Index(g.series, label(p.Rows[i][series]))
			if cell[s] >= 0 {
				return g, nil, false
			}
			cell[s] = i
		}
		g.rows, cells = append(g.rows, name), append(cells, cell)
	}
	return g, cells, len(g.rows) > 1
}

// unit names large numbers by what they are counted in.
func (p *picture) unit(j int) (text string, divisor float64) {
	largest := 0.0
	for _, row := range p.Rows {
		if x := math.Abs(number(row[j])); x > largest && !math.IsInf(x, 0) {
			largest = x
		}
	}
	for _, u := range []struct {
		name string
		size float64
	}{{"trillions", 1e12}, {"billions", 1e9}, {"millions", 1e6}} {
		if largest >= u.size && largest < 1e15 {
			return ", in " + u.name, u.size
		}
	}
	return "", 1
}

// interval is how far a value can be off.
func (p *picture) interval(i, j int, divisor float64) plot.Range {
	iv := p.Intervals[i][j]
	switch {
	case iv != nil && iv.Lower != nil && iv.Upper != nil:
		return plot.Range{Low: number(iv.Lower) / divisor, High: number(iv.Upper) / divisor}
	case p.Columns[j].Noisy:
		return plot.Unknown()
	}
	value := number(p.Rows[i][j]) / divisor
	return plot.Range{Low: value, High: value}
}

// estimate is the value of a row and column; row -1 is none.
func (p *picture) estimate(i, j int, divisor float64) plot.Estimate {
	if i < 0 {
		return plot.Estimate{Value: math.NaN(), Range: plot.Unknown(), Text: "no row"}
	}
	e := plot.Estimate{Value: number(p.Rows[i][j]) / divisor, Range: p.interval(i, j, divisor), Text: p.texts[j][0][i]}
	if intervals := p.texts[j][1]; intervals != nil && intervals[i] != "" {
		e.Text += " " + intervals[i]
	}
	return e
}

// texts are an answer's values and intervals, by column.
func texts(a *discreet.Answer) (all [][2][]string) {
	for _, c := range Columns(a) {
		if c.Beside {
			all[len(all)-1][1] = c.Cells
		} else {
			all = append(all, [2][]string{c.Cells})
		}
	}
	return all
}
