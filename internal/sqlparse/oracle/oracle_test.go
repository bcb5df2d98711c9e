//go:build cgo

package oracle

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	c "github.com/pganalyze/pg_query_go/v6/parser"
	"github.com/sqlc-dev/oliphant/ast"
	pure "github.com/sqlc-dev/oliphant/parser"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/sqlparse"
)

// places matches the places in a tree. PostgreSQL 18, the Go parser's, has more
// of them than 17, the C parser's, and they differ in one: that of x in - 'x'.
var places = regexp.MustCompile(`"(version|location|stmt_location|stmt_len|rexpr_list_start|rexpr_list_end|list_start|list_end)":-?\d+`)

// canonical returns a tree without its places and the commas around them.
func canonical(tree string) string {
	return strings.ReplaceAll(places.ReplaceAllString(tree, ""), ",", "")
}

// TestSameTrees changes the statements of sqlparse's corpus by dropping,
// doubling and exchanging tokens. What sqlparse accepts, PostgreSQL's parser
// must accept, and read as the same tree: no text may mean one
// thing here and another where SQL is defined. (The Go parser refuses some texts
// that C takes, such as a column's alias IS without AS. That does no harm.)
func TestSameTrees(t *testing.T) {
	statements := corpus(t)
	random := rand.New(rand.NewPCG(1, 2))
	tried, accepted, stricter := 0, 0, 0
	check := func(text string) {
		tried++
		_, err := sqlparse.Parse(text)
		want, wantErr := c.ParseToJSON(text)
		if err != nil {
			if strings.Contains(err.Error(), "D002") && wantErr == nil {
				stricter++
			}
			return
		}
		accepted++
		got, gotErr := pure.ParseToJSON(text)
		switch {
		case wantErr != nil:
			t.Errorf("only sqlparse accepts %s\n  %v", text, wantErr)
		case gotErr != nil && !strings.Contains(text, "/*") && !strings.Contains(text, "--"): // sqlparse blanks comments
			t.Errorf("%s: %v", text, gotErr)
		case gotErr == nil && canonical(got) != canonical(want):
			t.Errorf("%s\n  C:  %s\n  Go: %s", text, want, got)
		}
	}
	var words [][]string
	for _, sql := range statements {
		check(sql)
		if w := split(t, sql); len(w) > 1 {
			words = append(words, w)
		}
	}
	for range 300_000 {
		w := slices.Clone(words[random.IntN(len(words))])
		for range 1 + random.IntN(3) {
			i, j := random.IntN(len(w)), random.IntN(len(w))
			switch random.IntN(4) {
			case 0:
				w = slices.Delete(w, i, i+1)
			case 1:
				w = slices.Insert(w, i, w[j])
			case 2:
				w[i], w[j] = w[j], w[i]
			case 3:
				other := words[random.IntN(len(words))]
				w[i] = other[random.IntN(len(other))]
			}
			if len(w) == 0 {
				break
			}
		}
		check(strings.Join(w, " "))
	}
	t.Logf("%d statements, %d texts tried, %d accepted by sqlparse, %d syntax errors that C does not have", len(statements), tried, accepted, stricter)
	if len(statements) < 100 || accepted < 10_000 {
		t.Error("the corpus has shrunk")
	}
}

// corpus returns the statements of sqlparse's golden and refusal files.
func corpus(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"../testdata/golden/*", "../testdata/refuse/*.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, ".sql") {
				out = append(out, strings.SplitAfter(string(b), ";\n")...)
				continue
			}
			for _, block := range strings.Split(string(b), "\n\n") {
				_, sql, _ := strings.Cut(block, "\n") // the command
				sql, _, _ = strings.Cut(sql, "\n----")
				out = append(out, sql)
			}
		}
	}
	return out
}

// split returns the texts of a statement's tokens, without comments.
func split(t *testing.T, sql string) []string {
	t.Helper()
	b, err := pure.ScanToProtobuf(sql)
	if err != nil {
		return nil
	}
	var scan ast.ScanResult
	if err := proto.Unmarshal(b, &scan); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, k := range scan.Tokens {
		if k.Token != ast.Token_SQL_COMMENT && k.Token != ast.Token_C_COMMENT {
			words = append(words, sql[k.Start:k.End])
		}
	}
	return words
}
