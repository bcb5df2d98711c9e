package sqlparse

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// TestBounds refuses texts that overflow the parser's stack, make it repeat
// itself exponentially, or would make trees too deep for those who read them.
// Without the bounds the first kills the process and the nested SUBSTRINGs
// outlast the test's time limit.
func TestBounds(t *testing.T) {
	rep := strings.Repeat
	for _, c := range []struct{ name, code, text string }{
		{"five million NOT", "D001", "SELECT " + rep("NOT ", 5_000_000) + "true"},
		{"megabytes of parentheses", "D001", "SELECT " + rep("(", 5_000_000)},
		{"NUL", "D001", "SELECT 1\x00"},
		{"half a character", "D001", "SELECT 'ü'"[:len("SELECT 'ü'")-2]},
		{"encoded surrogate", "D001", "SELECT '\xed\xa0\x80'"},

		{"NOT", "D005", "SELECT " + rep("NOT ", 16_000) + "true"},
		{"minus", "D005", "SELECT " + rep("- ", 30_000) + "1"},
		{"prefix operators", "D005", "SELECT " + rep("@ ", 30_000) + "1"},
		{"parentheses", "D005", "SELECT " + rep("(", 10_000) + "1" + rep(")", 10_000)},
		{"only opened", "D005", "SELECT " + rep("(", 60_000)},
		{"brackets", "D005", "SELECT a" + rep("[a", 30_000)},
		{"CASE", "D005", "SELECT " + rep("CASE WHEN ", 5_000) + "a" + rep(" THEN 1 END", 1_000)},
		{"CASE operands", "D005", "SELECT " + rep("CASE ", 10_000)},
		{"columns called end do not close a CASE", "D005", "SELECT " + rep("CASE WHEN a.end THEN ", 3_000)},
		{"subqueries", "D005", "SELECT " + rep("(SELECT ", 7_000)},
		{"joins in parentheses", "D005", "SELECT * FROM " + rep("(a JOIN ", 5_000)},
		{"joins that wait for ON", "D005", "SELECT * FROM a " + rep("JOIN b ", 4_000) + rep("ON true ", 4_000)},
		{"joins in a row", "D005", "SELECT * FROM a" + rep(" CROSS JOIN b", 4_000)},
		{"UNION", "D005", "SELECT 1" + rep(" UNION ALL SELECT 1", 3_000)},
		{"sum", "D005", "SELECT 1" + rep("+1", 30_000)},
		{"concatenation", "D005", "SELECT a" + rep("||a", 20_000)},
		{"casts", "D005", "SELECT a" + rep("::int", 10_000)},
		{"parentheses and chains", "D005", "SELECT " + rep("(", 150) + "a" + rep("+1+1)", 150)},
		{"NOT after a comparison", "D005", "SELECT a" + rep(" = NOT a", 8_000)},
		{"NOT within BETWEEN", "D005", "SELECT a" + rep(" BETWEEN 1 AND NOT b", 3_000)},
		{"two hundred and one", "D005", "SELECT 1" + rep("+1", 201)},

		{"SUBSTRING reads twice", "D005", "SELECT " + rep("substring(", 60) + "a" + rep(",1,2)", 60)},
		{"OVERLAY reads twice", "D005", "SELECT " + rep("overlay(", 60) + "a" + rep(",1,2)", 60)},
		{"parenthesised queries read twice", "D005", "SELECT " + rep("((SELECT ", 60) + "1" + rep(")+1)", 60)},
		{"many parentheses before SELECT", "D005", "SELECT " + rep("((((((SELECT ", 20) + "1" + rep(")+1)+1)+1)+1)+1)", 20)},
		{"in FROM", "D005", "SELECT * FROM " + rep("((SELECT * FROM ", 60) + "t" + rep(") a JOIN b ON x)", 60)},
		{"JSON_OBJECT reads twice", "D005", "SELECT " + rep("json_object(", 60) + "a" + rep(")", 60)},

		{"comments never closed", "D002", "SELECT " + rep("/*", 30_000)},
		{"text never closed", "D002", "SELECT '" + rep("a", 60_000)},
		{"dollar quote never closed", "D002", "SELECT $a$" + rep("$b$", 20_000)},
		{"bad escape", "D002", `SELECT U&'\00zz'`},
		{"NUL by escape", "D002", `SELECT E'\000'`},
		{"NUL by Unicode escape", "D002", `SELECT U&'\0000'`},
		{"lone surrogate", "D002", `SELECT U&'\D800'`},
		{"invalid bytes by escape", "D002", `SELECT E'\xff'`},
		{"empty name", "D002", `SELECT ""`},
		{"JSON operators", "D007", "SELECT a" + rep("->'b'", 10_000)},
		{"a number of many digits", "D009", "SELECT " + rep("9", 60_000)},
		{"digits in hexadecimal", "D009", "SELECT 0x" + rep("f", 60_000)},

		{"nested 150 deep", "", "SELECT " + rep("(", 150) + "1" + rep("+1)", 150)},
		{"a thousand alternatives", "", "SELECT a" + rep(" OR a = 1", 5_000)},
		{"a thousand conditions", "", "SELECT a" + rep(" AND NOT a", 5_000)},
		{"a long list", "", "SELECT a IN (1" + rep(",1", 30_000) + ")"},
		{"many rows", "", "VALUES (1)" + rep(",(1)", 15_000)},
		{"many columns", "", "SELECT 1" + rep(",1", 30_000)},
		{"many branches", "", "SELECT CASE" + rep(" WHEN a THEN 1", 4_000) + " END"},
		{"many WITHs", "", "WITH a AS (SELECT 1)" + rep(",b AS (SELECT 1)", 3_000) + "SELECT 1"},
		{"nested comments", "", "SELECT " + rep("/*", 10_000) + rep("*/", 10_000) + "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, err := Parse(c.text)
			if err == nil {
				if c.code != "" {
					t.Fatalf("accepted, want %s", c.code)
				}
				if n := depthOf(q); n > 3*maxDepth {
					t.Fatalf("the tree is %d deep", n)
				}
				return
			}
			if d := err.(*diagnostic.Diagnostic); d.Code != c.code {
				t.Fatalf("%v, want %s", clip(d.Error()), c.code)
			}
		})
	}
}
