package query

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/cells"
	"github.com/discreet-dp/discreet/internal/cli/clitest"
	"github.com/discreet-dp/discreet/internal/display"
	"github.com/discreet-dp/discreet/sqltype"
)

var rewrite = flag.Bool("rewrite", false, "draw anew what is out of date")

// A noisy value lies in the middle of its interval.
type noisy struct{ value, within any }

// answer makes an answer of columns, "name type" or "name type noisy", and rows.
func answer(columns []string, rows ...[]any) *discreet.Answer {
	a := &discreet.Answer{Confidence: 0.95, Statement: "SELECT ..."}
	for _, text := range columns {
		words := strings.Fields(text)
		typ, err := sqltype.Parse(words[1])
		if err != nil {
			panic(err)
		}
		a.Columns = append(a.Columns, discreet.Column{Name: strings.ReplaceAll(words[0], "_", " "), Type: typ, Noisy: len(words) > 2})
	}
	for _, cells := range rows {
		row, intervals := make([]sqltype.Value, len(cells)), make([]*discreet.Interval, len(cells))
		for j, cell := range cells {
			switch c := cell.(type) {
			case int:
				row[j] = int64(c)
			case noisy:
				switch v := c.value.(type) {
				case int:
					row[j] = int64(v)
					intervals[j] = &discreet.Interval{Lower: int64(v - c.within.(int)), Upper: int64(v + c.within.(int))}
				case float64:
					row[j] = v
					intervals[j] = &discreet.Interval{Lower: v - c.within.(float64), Upper: v + c.within.(float64)}
				}
			default:
				row[j] = cell
			}
		}
		a.Rows, a.Intervals = append(a.Rows, row), append(a.Intervals, intervals)
	}
	return a
}

func date(text string) sqltype.Value {
	v, err := sqltype.ParseValue(sqltype.Of(sqltype.DateKind), text)
	if err != nil {
		panic(err)
	}
	return v
}

// pictures has an answer of each shape.
func pictures() map[string]*discreet.Answer {
	all := map[string]*discreet.Answer{}
	all["groups"] = answer([]string{"department text", "visits bigint noisy"},
		[]any{"Emergency", noisy{12345, 420}}, []any{"Surgery", noisy{8123, 420}}, []any{"Intensive care", noisy{2210, 420}}, []any{"Radiology", noisy{640, 420}})
	all["quantities"] = answer([]string{"stage text", "people bigint noisy", "hours double noisy", "gains double noisy"},
		[]any{"college", noisy{7813, 240}, noisy{42.16, 0.9}, noisy{4584590.0, 1198000.0}}, []any{"high school", noisy{17789, 240}, noisy{39.86, 0.4}, noisy{26112807.0, 1198000.0}},
		[]any{"no diploma", noisy{4227, 240}, noisy{36.7, 1.8}, noisy{3643863.0, 1198000.0}}, []any{"university", noisy{2714, 240}, noisy{44.97, 2.4}, noisy{902000.0, 1198000.0}})
	all["negative"] = answer([]string{"education text", "percent double noisy"},
		[]any{"Doctorate", noisy{76.09, 12.3}}, []any{"9th", noisy{4.19, 6.0}}, []any{"1st-4th", noisy{0.0, 18.2}}, []any{"Preschool", noisy{-20.63, 85.0}})
	all["missing"] = answer([]string{"job text", "people bigint noisy", "ratio double noisy"},
		[]any{"Private", noisy{22677, 1500}, 0.5}, []any{nil, noisy{1839, 1500}, nil}, []any{"", noisy{-20, 1500}, 1.25}, []any{"漢字 of a long name that nobody wants to read to its end, ever", nil, 0.75})
	all["missing"].Columns[2].Why = "a quotient"
	all["missing"].Kept = []string{"group selection", "LIMIT"}
	all["series"] = answer([]string{"sex text", "income text", "people bigint noisy"},
		[]any{"Female", "<=50K", noisy{9608, 300}}, []any{"Female", ">50K", noisy{1183, 300}}, []any{"Male", "<=50K", noisy{15132, 300}}, []any{"Male", ">50K", noisy{6674, 300}})
	days := answer([]string{"day date", "visits bigint noisy", "cost double noisy"})
	ages := answer([]string{"age integer", "sex text", "people bigint noisy"})
	for i := range 30 {
		day := answer([]string{"day date", "visits bigint noisy", "cost double noisy"}, []any{date(fmt.Sprintf("2025-03-%02d", i+1)), noisy{400 + 7*i + 90*(i%7/5), 60}, noisy{80 + 20*math.Sin(float64(i)/5), 6.5}})
		if i == 11 {
			day.Rows[0][2], day.Intervals[0][2] = nil, nil
		}
		days.Rows, days.Intervals = append(days.Rows, day.Rows[0]), append(days.Intervals, day.Intervals[0])
	}
	all["days"] = days
	for age := 17; age < 91; age++ {
		for s, sex := range []string{"Female", "Male"} {
			more := answer([]string{"a integer", "b text", "c bigint noisy"}, []any{age, sex, noisy{int(900*math.Exp(-math.Pow(float64(age-36-4*s)/18, 2))) - 300*s + 300, 70}})
			ages.Rows, ages.Intervals = append(ages.Rows, more.Rows[0]), append(ages.Intervals, more.Intervals[0])
		}
	}
	all["ages"] = ages
	all["years"] = answer([]string{"year integer", "births bigint noisy"},
		[]any{2021, noisy{1200, 300}}, []any{2019, noisy{1700, 300}}, []any{2020, noisy{1500, 300}}, []any{nil, noisy{20, 300}}, []any{2024, noisy{800, 300}})
	all["single"] = answer([]string{"visits bigint noisy", "cost double noisy"}, []any{noisy{156518, 166}, noisy{412.9, 35.0}})
	all["empty"] = answer([]string{"job text", "people bigint noisy"})
	all["nulls"] = answer([]string{"job text", "pay double noisy"}, []any{"clerk", nil}, []any{"judge", nil})
	many := answer([]string{"town text", "people bigint noisy"})
	for i := range 90 {
		more := answer([]string{"a text", "b bigint noisy"}, []any{fmt.Sprintf("town %d", i+1), noisy{9000 / (i + 1), 60}})
		many.Rows, many.Intervals = append(many.Rows, more.Rows[0]), append(many.Intervals, more.Intervals[0])
	}
	all["many"] = many
	all["three"] = answer([]string{"sex text", "job text", "member boolean", "people bigint noisy"},
		[]any{"F", "clerk", true, noisy{120, 20}}, []any{"F", "judge", true, noisy{30, 20}}, []any{"M", "clerk", false, noisy{140, 20}})
	all["public"] = answer([]string{"ward text", "beds integer", "rate decimal(4,2)"},
		[]any{"A", 20, sqltype.Decimal{Unscaled: big.NewInt(150), Scale: 2}}, []any{"B", 12, sqltype.Decimal{Unscaled: big.NewInt(75), Scale: 2}})
	all["unkeyed"] = answer([]string{"people bigint noisy"}, []any{noisy{120, 20}}, []any{noisy{30, 20}})
	hours := answer([]string{"at time", "calls bigint noisy"})
	for i := range 24 {
		at, _ := sqltype.ParseValue(sqltype.Of(sqltype.TimeKind), fmt.Sprintf("%02d:00:00", i))
		more := answer([]string{"a time", "b bigint noisy"}, []any{at, noisy{200 + i*(24-i), 25}})
		hours.Rows, hours.Intervals = append(hours.Rows, more.Rows[0]), append(hours.Intervals, more.Intervals[0])
	}
	all["hours"] = hours
	return all
}

// Each shape of answer is drawn as testdata/pictures has it: as SVG, and in terminals of
// 40 and 80 columns.
func TestPictures(t *testing.T) {
	for name, a := range pictures() {
		t.Run(name, func(t *testing.T) {
			d := display.Draw(a)
			var svg, text bytes.Buffer
			if err := d.WriteSVG(&svg); err != nil {
				t.Fatal(err)
			}
			for _, width := range []int{40, 80} {
				if err := d.WriteText(&text, width, 24); err != nil {
					t.Fatal(err)
				}
				for line := range strings.SplitSeq(text.String(), "\n") {
					if cells.Width(line) > 80 {
						t.Errorf("wider than the terminal: %s", line)
					}
				}
				fmt.Fprintln(&text, strings.Repeat("=", width))
			}
			golden(t, filepath.Join("testdata/pictures", name+".svg"), svg.Bytes())
			golden(t, filepath.Join("testdata/pictures", name+".txt"), text.Bytes())
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(got, want):
	case *rewrite:
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(err)
	case runtime.GOARCH == "amd64": // elsewhere last digits may differ
		t.Errorf("%s is out of date: make golden draws it anew", path)
	}
}

// The drawings of the tour are of the answers that stand beside them.
func TestTourIsDrawn(t *testing.T) {
	page, err := os.ReadFile("../../../docs/tour.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, heading := range clitest.AnswerDrawings {
		_, section, found := strings.Cut(string(page), heading+"\n")
		if !found || !strings.Contains(strings.Split(section, "\n### ")[0], "](plots/"+name+")") {
			t.Errorf("docs/tour.md has no %s under %q", name, heading)
			continue
		}
		_, table, _ := strings.Cut(section, "```text")
		_, table, _ = strings.Cut(table, "\n")
		var svg bytes.Buffer
		if err := display.Draw(printed(t, table)).WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("../../../docs/plots", name), svg.Bytes())
	}
}

// printed reads a table that query has printed: names of groups, or whole numbers, then
// values with their intervals.
func printed(t *testing.T, table string) *discreet.Answer {
	t.Helper()
	lines := strings.Split(table, "\n")
	var starts []int // where the columns begin
	for i, r := range lines[1] {
		if r == '-' && (i == 0 || lines[1][i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	split := func(line string) (cells []string) {
		for i, from := range starts {
			to := len(line)
			if i+1 < len(starts) {
				to = min(to, starts[i+1])
			}
			cells = append(cells, strings.TrimSpace(line[min(from, to):to]))
		}
		return cells
	}
	var columns []string
	head := split(lines[0])
	for i, title := range head {
		switch {
		case strings.HasSuffix(title, "interval"):
		case i+1 < len(head) && strings.HasSuffix(head[i+1], "interval"):
			columns = append(columns, title+" double noisy")
		case regexp.MustCompile(`^\d+$`).MatchString(split(lines[2])[i]):
			columns = append(columns, title+" bigint")
		default:
			columns = append(columns, title+" text")
		}
	}
	a := answer(columns)
	for _, line := range lines[2:] {
		if strings.HasPrefix(line, "cost:") {
			return a
		}
		var row []sqltype.Value
		var intervals []*discreet.Interval
		for i, cell := range split(line) {
			if strings.HasSuffix(head[i], "interval") {
				var iv [2]float64
				if _, err := fmt.Sscanf(cell, "[%g, %g]", &iv[0], &iv[1]); err != nil {
					t.Fatalf("%q: %v", cell, err)
				}
				intervals[len(intervals)-1] = &discreet.Interval{Lower: iv[0], Upper: iv[1]}
				continue
			}
			value, err := sqltype.ParseValue(a.Columns[len(row)].Type, cell)
			if err != nil {
				t.Fatal(err)
			}
			row, intervals = append(row, value), append(intervals, nil)
		}
		a.Rows, a.Intervals = append(a.Rows, row), append(a.Intervals, intervals)
	}
	t.Fatalf("no table:\n%s", table)
	return nil
}
