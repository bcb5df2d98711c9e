// Package clinic makes the data set of `discreet demo`: 200,000 visits that
// 20,000 patients paid to a clinic in 2025, its departments, a catalog over
// them, and five questions.
//
// The data is synthetic and always the same. Nobody in it lives, so it is drawn
// from a predictable generator; noise never is. Its shapes are those that make
// private data hard: a few patients come all the time, costs have long tails
// that differ by department, values are missing.
package clinic

import (
	"bufio"
	_ "embed"
	"fmt"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/custody"
)

//go:embed discreet.toml
var catalogText []byte

//go:embed departments.csv
var departmentsText []byte

// Write makes the data set in a folder, which it creates if need be: the files
// discreet.toml, departments.csv and visits.parquet. It returns the path of the
// catalog. Files of these names are overwritten. All are their owner's alone.
func Write(dir string) (catalog string, err error) {
	if err := custody.Folder(dir); err != nil {
		return "", fmt.Errorf("write demo data: %w", err)
	}
	catalog = filepath.Join(dir, "discreet.toml")
	if err := custody.Write(catalog, catalogText); err != nil {
		return "", fmt.Errorf("write demo catalog: %w", err)
	}
	if err := custody.Write(filepath.Join(dir, "departments.csv"), departmentsText); err != nil {
		return "", fmt.Errorf("write demo departments: %w", err)
	}
	if err := writeVisits(filepath.Join(dir, "visits.parquet"), Visits()); err != nil {
		return "", fmt.Errorf("write demo visits: %w", err)
	}
	return catalog, nil
}

func writeVisits(path string, visits []Visit) (err error) {
	f, err := custody.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := writeParquet(w, len(visits), visitColumns(visits)); err != nil {
		return err
	}
	return w.Flush()
}

// A Question is one of the demo's.
type Question struct {
	Title string // the question in English
	SQL   string
	Rho   string // what it may cost, in zCDP
}

// Questions returns the demo's five questions, which together fit the budget of
// the catalog.
func Questions() []Question {
	return []Question{
		{
			Title: "How many visits did each department have?",
			SQL: `SELECT department, count(*) AS visits
FROM visits
GROUP BY department
ORDER BY visits DESC`,
			Rho: "0.02",
		},
		{
			Title: "What does a visit cost, by department?",
			SQL: `SELECT department, avg(cost) AS average_cost
FROM visits
GROUP BY department`,
			Rho: "0.04",
		},
		{
			Title: "How did the year go? Months are private: none is named that too few patients know.",
			SQL: `SELECT date_trunc('month', seen_at) AS month, count(*) AS visits
FROM visits
GROUP BY month
ORDER BY month`,
			Rho: "0.02",
		},
		{
			Title: "How often does a patient come?",
			SQL: `SELECT avg(least(visits, 50)) AS visits_per_patient
FROM (SELECT patient_id, count(*) AS visits FROM visits GROUP BY patient_id) AS patient`,
			Rho: "0.01",
		},
		{
			Title: "Which floors do patients over 60 climb to?",
			SQL: `SELECT floor, count(DISTINCT patient_id) AS patients
FROM visits JOIN departments ON name = department
WHERE age > 60
GROUP BY floor
ORDER BY floor`,
			Rho: "0.02",
		},
	}
}
