//go:build unix

package render

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/trinotest"
)

// Choosing within arrays of the rows of units that a bound cuts is ranking all rows.
func TestGatheredRowsAreThoseOfRanking(t *testing.T) {
	c := trinotest.Start(t)
	schema := c.SchemaIn(t, "memory")
	c.Exec(t, "CREATE TABLE "+schema+`.t AS SELECT CAST((mix * mix % 97) % 40 AS BIGINT) AS u, 'it''s ' || CAST(mix * 7 % 67 AS VARCHAR) AS a, 'w' || CAST(mix % 4 AS VARCHAR) AS b,
		CASE WHEN n % 9 > 0 THEN CAST(mix % 21 - 10 AS BIGINT) END AS x, CASE WHEN n % 7 > 0 THEN mix % 2 = 0 END AS c, CAST(mix % 3 AS BIGINT) AS k
		FROM (SELECT n, n * 7919 % 1009 + n % 13 AS mix FROM UNNEST(sequence(1, 900)) AS s(n)) AS s
		UNION ALL SELECT 100 + n % 50, 'it''s ' || CAST(n / 50 AS VARCHAR), 'w' || CAST(n % 3 AS VARCHAR), n % 5, n % 2 = 0, n % 2 FROM UNNEST(sequence(1, 150)) AS s(n)`)
	cutUnits(t, Trino, "array_agg(", 30, [][2]int64{{3, 2}, {2, 4}}, func(sql string) (rows []string) {
		for _, row := range c.Exec(t, `WITH "t" AS (SELECT * FROM `+schema+".t) "+strings.ReplaceAll(sql, TrinoSalt, "BIGINT '42'")) {
			cells := make([]string, len(row))
			for i, cell := range row {
				if cells[i] = "0"; cell != nil {
					cells[i] = *cell
				}
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		return rows
	})
}
