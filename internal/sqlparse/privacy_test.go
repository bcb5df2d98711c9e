package sqlparse

import (
	"errors"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// GoogleSQL's clause is read where it stands, and the rest of the statement as if it were
// not there, places included.
func TestPrivacyClause(t *testing.T) {
	for _, test := range []struct {
		text string
		want Privacy
	}{
		{"SELECT WITH DIFFERENTIAL_PRIVACY count(*) FROM t", Privacy{}},
		{"select with differential_privacy options () count(*) FROM t", Privacy{}},
		{"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1.5, delta=1e-6, max_groups_contributed = 3) a, count(*) FROM t GROUP BY a", Privacy{Epsilon: "1.5", Delta: "1e-6", Groups: 3}},
		{"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 10) a, count(*) FROM t GROUP BY a", Privacy{Rows: 10}},
		{"SELECT x + 1 FROM (SELECT /* here */ WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = Id, group_selection_strategy = PUBLIC_GROUPS) count(*) AS x FROM (SELECT (a) FROM t) u) v", Privacy{Unit: Ident{Name: "id"}, Public: true}},
		{"WITH c AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (privacy_unit_column = \"Id\") count(*) AS x FROM t) SELECT (x) FROM c", Privacy{Unit: Ident{Name: "Id"}}},
	} {
		q, err := Parse(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		checkSpans(t, q, test.text)
		if q.Privacy == nil {
			t.Errorf("%s: no clause", test.text)
			continue
		}
		got := *q.Privacy
		got.Span, got.Unit.Span = diagnostic.Span{}, diagnostic.Span{}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.text, got, test.want)
		}
	}
	for text, code := range map[string]string{
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon) 1":                                                     "D002",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = ) 1":                                                  "D002",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1 1":                                                  "D002",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1 + 1) 1":                                             "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = $1) 1":                                                "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = x) 1":                                                 "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = -1) 1":                                                  "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1.5) 1":                                "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 0) 1":                                    "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_rows_contributed = 2, max_groups_contributed = 2) 1":        "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 2, max_rows_contributed = 2) 1":        "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (min_privacy_units_per_group = 5) 1":                             "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = LAPLACE_THRESHOLD) 1":                "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (seed = 1) 1":                                                    "D057",
		"SELECT WITH ANONYMIZATION count(*) FROM t":                                                                "D002",
		"SELECT DISTINCT WITH DIFFERENTIAL_PRIVACY count(*) FROM t":                                                "D002",
		"SELECT WITH DIFFERENTIAL_PRIVACY 1 UNION ALL SELECT WITH DIFFERENTIAL_PRIVACY 1":                          "D057",
		"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) 1": "D002",
		"SELECT 'a' WITH DIFFERENTIAL_PRIVACY":                                                                     "D002",
	} {
		_, err := Parse(text)
		if d, ok := errors.AsType[*diagnostic.Diagnostic](err); !ok || d.Code != code {
			t.Errorf("%s: %v, want %s", text, err, code)
		}
	}
}
