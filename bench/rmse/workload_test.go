//go:build cgo

package rmse

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed workload.json
var workload []byte

// questions are what workload.json holds.
type questions struct {
	Delta      string           `json:"delta"`
	Epsilons   []string         `json:"epsilons"`
	Tables     map[string]table `json:"tables"`
	Statements []statement      `json:"statements"`
}

// A table is a private one, with what its owner declares.
type table struct {
	Unit      string            `json:"unit"` // a column; empty: the row
	MaxGroups int               `json:"max_groups"`
	MaxRows   int               `json:"max_rows"`
	Bounds    map[string][2]int `json:"bounds"`
	Texts     []string          `json:"texts"`
	Months    []string          `json:"months"`
}

// A statement is one question, in no library's words.
type statement struct {
	ID         string      `json:"id"`
	Table      string      `json:"table"`
	Keys       []string    `json:"keys"`
	Private    bool        `json:"private"` // its groups are chosen privately
	Aggregates [][2]string `json:"aggregates"`
	Where      []any       `json:"where"`
}

func read() (q questions, err error) {
	err = json.Unmarshal(workload, &q)
	return q, err
}

// sql is the statement for Discreet, and, over relations of the same names, for the plain engine.
func (s statement) sql(t table) string {
	selected := append([]string{}, s.Keys...)
	for i, a := range s.Aggregates {
		call := a[0] + "(" + a[1] + ")"
		switch a[0] {
		case "units":
			call = "count(DISTINCT " + t.Unit + ")"
		case "stddev":
			call = "stddev_pop(" + a[1] + ")"
		case "median":
			call = "percentile_cont(0.5) WITHIN GROUP (ORDER BY " + a[1] + ")"
		}
		selected = append(selected, fmt.Sprintf("%s AS a%d", call, i))
	}
	text := "SELECT " + strings.Join(selected, ", ") + " FROM " + s.from()
	if s.Where != nil {
		value := fmt.Sprint(s.Where[2])
		if w, is := s.Where[2].(string); is {
			value = "'" + w + "'"
		}
		text += fmt.Sprintf(" WHERE %s %s %s", s.Where[0], s.Where[1], value)
	}
	if s.Keys != nil {
		text += " GROUP BY " + strings.Join(s.Keys, ", ")
	}
	return text
}

// from is the relation: of one source there is a table with public domains, and one without.
func (s statement) from() string {
	if s.Private {
		return s.Table + "_private"
	}
	return s.Table
}
