package request

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/sqltype"
)

func TestStatement(t *testing.T) {
	s, err := ParseStatement([]byte(`{"sql": "SELECT \ud83d\ude00 \ufffd", "params": ["x", 5, 5000000000, 12345678901234567890, 0.50, 1e-3, true, null],
		"epsilon": 0.1000000000000000055511151231257827, "delta": "1e-7", "rho": null, "confidence": 0.99, "accuracy": null, "fresh": true}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.SQL != "SELECT 😀 \ufffd" || s.Confidence != 0.99 || !s.Fresh {
		t.Errorf("got %+v", s)
	}
	// The nearest float64 of one tenth is not one tenth.
	if got := s.Spend.Epsilon.String(); got != "0.1000000000000000055511151231257827" {
		t.Errorf("epsilon %s", got)
	}
	if got := s.Spend.Delta.String(); got != "1e-7" || s.Spend.Rho.Sign() != 0 {
		t.Errorf("delta %s, rho %v", got, s.Spend.Rho)
	}
	want := []struct{ typ, text string }{{"null", "x"}, {"integer", "5"}, {"bigint", "5000000000"}, {"decimal(20,0)", "12345678901234567890"},
		{"decimal(3,2)", "0.50"}, {"double", "1e-3"}, {"boolean", "true"}, {"null", "NULL"}}
	for i, p := range s.Parameters {
		text := "NULL"
		if p.Text != nil {
			text = *p.Text
		}
		if p.Type.String() != want[i].typ || text != want[i].text {
			t.Errorf("$%d is %s %q, want %v", i+1, p.Type, text, want[i])
		}
	}
	if len(s.Parameters) != len(want) {
		t.Errorf("%d parameters", len(s.Parameters))
	}
}

// TestArrayParameters: a list is an array of the type that holds its values.
func TestArrayParameters(t *testing.T) {
	for list, want := range map[string]struct{ typ, text string }{
		`[]`:                     {"null", "{}"},
		`[null]`:                 {"null", "{NULL}"},
		`["a", null, "b,\"c"]`:   {"null", `{"a",NULL,"b,\"c"}`},
		`[1, 5000000000]`:        {"bigint", `{"1","5000000000"}`},
		`[1.25, 100]`:            {"decimal(12,2)", `{"1.25","100"}`},
		`[1, 1e3]`:               {"double", `{"1","1e3"}`},
		`[true, false]`:          {"boolean", `{"true","false"}`},
		`[1e-1, 12345678901.25]`: {"double", `{"1e-1","12345678901.25"}`},
	} {
		s, err := ParseStatement([]byte(`{"sql": "x", "params": [` + list + `]}`))
		if err != nil {
			t.Errorf("%s: %v", list, err)
			continue
		}
		if p := s.Parameters[0]; !p.Array || p.Type.String() != want.typ || *p.Text != want.text {
			t.Errorf("%s is an array (%v) of %s: %s, want %v", list, p.Array, p.Type, *p.Text, want)
		}
	}
}

func TestStatementRefusals(t *testing.T) {
	for body, want := range map[string]string{
		``:                                        "ends in the middle",
		`{"sql": "x"`:                             "ends in the middle",
		`[]`:                                      "no JSON object",
		`null`:                                    "no JSON object",
		`"sql"`:                                   "no JSON object",
		`{"sql" "x"}`:                             "no JSON",
		`{}`:                                      "no statement",
		`{"sql": ""}`:                             "no statement",
		`{"sql": null}`:                           "no statement",
		`{"sql": 5}`:                              "sql is no string",
		`{"sql": "x"} {}`:                         "follows",
		`{"sql": "x"}x`:                           "follows",
		`{"sql": "x", "sql": "y"}`:                "given twice",
		`{"sql": "x", "s\u0071l": "y"}`:           "given twice",
		`{"SQL": "x"}`:                            `no member "SQL"`,
		`{"sql": "x", "epsilonn": 1}`:             `did you mean "epsilon"?`,
		`{"sql": "x", "weights": "1"}`:            "there are sql, params",
		`{"sql": "\ud800"}`:                       "surrogate",
		"{\"sql\": \"\xff\"}":                     "UTF-8",
		`{"sql": "x", "epsilon": 0}`:              "an answer must cost more than 0",
		`{"sql": "x", "epsilon": -1}`:             "epsilon",
		`{"sql": "x", "epsilon": "NaN"}`:          "epsilon",
		`{"sql": "x", "epsilon": " 1"}`:           "epsilon",
		`{"sql": "x", "epsilon": "0x1"}`:          "epsilon",
		`{"sql": "x", "epsilon": NaN}`:            "no JSON",
		`{"sql": "x", "epsilon": [1]}`:            "neither a number nor",
		`{"sql": "x", "epsilon": true}`:           "neither a number nor",
		`{"sql": "x", "rho": 1e999999999}`:        "rho",
		`{"sql": "x", "delta": 2}`:                "delta",
		`{"sql": "x", "confidence": 1}`:           "not between 0 and 1",
		`{"sql": "x", "confidence": "Inf"}`:       "confidence",
		`{"sql": "x", "accuracy": "0%"}`:          "is no accuracy",
		`{"sql": "x", "fresh": 1}`:                "neither true nor false",
		`{"sql": "x", "params": {}}`:              "no list",
		`{"sql": "x", "params": [[1, [2]]]}`:      "params[0][1] is no single value",
		`{"sql": "x", "params": [1, [1, "2"]]}`:   "params[1] has values of different kinds",
		`{"sql": "x", "params": [["\udc00"]]}`:    "surrogate",
		`{"sql": "x", "params": [{"a":1,"a":2}]}`: "params[0] is no single value",
		`{"sql": "x", "params": ["\udc00"]}`:      "surrogate",
	} {
		_, err := ParseStatement([]byte(body))
		refused(t, body, err, want)
	}
}

func TestPlan(t *testing.T) {
	p, err := ParsePlan([]byte(`{"plan": "2 * gaussian(1)", "delta": 0.000001}`))
	if err != nil || p.Text != "2 * gaussian(1)" || p.Epsilon != nil || p.Delta.RatString() != "1/1000000" {
		t.Errorf("got %+v, %v", p, err)
	}
	for body, want := range map[string]string{
		`{"delta": 1e-6}`:                                   "no plan",
		`{"plan": "gaussian(1)"}`:                           "say at which",
		`{"plan": "gaussian(1)", "delta": 0, "epsilon": 1}`: "say at which",
		`{"plan": "gaussian(1)", "delta": -1}`:              "delta",
		`{"plan": "gaussian(1)", "epsilon": "e"}`:           "epsilon",
		`{"plan": ["gaussian(1)"], "epsilon": 1}`:           "plan is no string",
	} {
		_, err := ParsePlan([]byte(body))
		refused(t, body, err, want)
	}
}

func TestKey(t *testing.T) {
	for _, good := range []string{"", "6f1c-1", `"quoted"`, strings.Repeat("k", 255)} {
		if got, err := ParseKey(good); got != good || err != nil {
			t.Errorf("key %q: %q, %v", good, got, err)
		}
	}
	for _, bad := range []string{"a b", "é", "a\n", "\x00", strings.Repeat("k", 256)} {
		_, err := ParseKey(bad)
		refused(t, bad, err, "idempotency key")
	}
}

// refused wants a diagnostic that says so, in its message or its hint.
func refused(t *testing.T, body string, err error, want string) {
	t.Helper()
	var d *diagnostic.Diagnostic
	if !errors.As(err, &d) {
		t.Errorf("%s: %v is no diagnostic", body, err)
		return
	}
	if !strings.Contains(d.Message+"; "+d.Why+"; "+d.Hint, want) {
		t.Errorf("%s: got %q, %q, %q, want %q", body, d.Message, d.Why, d.Hint, want)
	}
}

// Whatever comes is read as package json reads it, or refused with a diagnostic; amounts are
// the numbers that were written.
func FuzzStatement(f *testing.F) {
	for _, body := range []string{`{"sql": "SELECT 1", "params": ["a", 1, 1.5, null, true], "epsilon": 1e-3, "delta": "0.1"}`,
		`{"sql": "\ud83d\ude00\ufffd", "confidence": "0.5", "fresh": false}`, `{"sql":"x","sql":"y"}`, `{"sql": "x", "rho": 1E-9}`, "[]", ""} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := ParseStatement(body)
		if err != nil {
			var d *diagnostic.Diagnostic
			if !errors.As(err, &d) || d.Message == "" {
				t.Fatalf("%q: %v", body, err)
			}
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(body, &members); err != nil {
			t.Fatalf("%q is no JSON: %v", body, err)
		}
		var sql string
		if err := json.Unmarshal(members["sql"], &sql); err != nil || sql != s.SQL {
			t.Fatalf("%q: sql %q, not %q (%v)", body, s.SQL, sql, err)
		}
		for _, p := range s.Parameters {
			if p.Text == nil || p.Type == (sqltype.Type{}) {
				continue
			}
			if !json.Valid([]byte(*p.Text)) {
				t.Fatalf("%q: parameter %q", body, *p.Text)
			}
		}
		if s.Spend.Epsilon.Sign() < 0 || s.Spend.Delta.Sign() < 0 || s.Spend.Rho.Sign() < 0 || s.Confidence < 0 || !(s.Confidence < 1) {
			t.Fatalf("%q: %+v", body, s)
		}
	})
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"plan": "gaussian(1)", "delta": 1e-6}`))
	f.Add([]byte(`{"plan": "pure(1)", "epsilon": "0.5"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := ParsePlan(body)
		var d *diagnostic.Diagnostic
		if err != nil && !errors.As(err, &d) {
			t.Fatalf("%q: %v", body, err)
		}
		if err == nil && (p.Text == "" || (p.Epsilon == nil) == (p.Delta == nil)) {
			t.Fatalf("%q: %+v", body, p)
		}
	})
}
