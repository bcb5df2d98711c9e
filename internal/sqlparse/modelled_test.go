package sqlparse

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	pg "github.com/sqlc-dev/oliphant"
)

// accepted returns the statements of the golden files that pass.
func accepted(t testing.TB) []string {
	t.Helper()
	var out []string
	files, err := filepath.Glob("testdata/golden/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		datadriven.RunTestAny(t, file, func(_ testing.TB, d *datadriven.TestData) string {
			if _, err := Parse(d.Input); err == nil {
				out = append(out, d.Input)
			}
			return d.Expected
		})
	}
	if len(out) < 30 {
		t.Fatalf("only %d statements", len(out))
	}
	return out
}

// TestUnmodelledFields sets, in the parser's tree of every accepted statement
// and one after the other, each field that the conversion does not read. What
// a later grammar may put there must be refused, not ignored.
func TestUnmodelledFields(t *testing.T) {
	seen := map[protoreflect.Name]bool{}
	tried := 0
	for _, sql := range append(accepted(t), "SELECT count(*) FROM t WHERE x > $1 LIMIT $2") {
		src, _ := scan(sql)
		tree, err := pg.Parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		messages(tree.ProtoReflect(), func(m protoreflect.Message) {
			name := m.Descriptor().Name()
			if name == "Node" || name == "A_Star" {
				return
			}
			seen[name] = true
			for i := range m.Descriptor().Fields().Len() {
				f := m.Descriptor().Fields().Get(i)
				if slices.Contains(modelled[name], f.Name()) || f.ContainingOneof() != nil {
					continue
				}
				if m.Has(f) {
					t.Fatalf("%s: %s of %s is set and accepted", sql, f.Name(), name)
				}
				set(m, f)
				tried++
				if _, d := convert(src, tree, true); d == nil {
					t.Errorf("%s: %s of %s is ignored", sql, f.Name(), name)
				}
				m.Clear(f)
			}
		})
		if _, d := convert(src, tree, true); d != nil {
			t.Fatalf("%s: the tree was not restored: %v", sql, d)
		}
	}
	for name := range modelled {
		if !seen[name] && name != "A_Star" {
			t.Errorf("no golden statement has a %s", name)
		}
	}
	if tried < 900 {
		t.Errorf("only %d fields tried", tried)
	}
}

// TestUnmodelledNodes puts every node type of the parser in the place of an
// expression, a table, a statement and an ORDER BY.
func TestUnmodelledNodes(t *testing.T) {
	union := (&pg.Node{}).ProtoReflect()
	for i := range union.Descriptor().Fields().Len() {
		f := union.Descriptor().Fields().Get(i)
		if _, ok := modelled[f.Message().Name()]; ok {
			continue
		}
		node := &pg.Node{}
		node.ProtoReflect().Set(f, node.ProtoReflect().NewField(f))
		const sql = "SELECT a FROM t WHERE b GROUP BY c HAVING d ORDER BY e LIMIT 1"
		src, _ := scan(sql)
		for place, put := range map[string]func(tree *pg.ParseResult, s *pg.SelectStmt){
			"statement": func(tree *pg.ParseResult, s *pg.SelectStmt) { tree.Stmts[0].Stmt = node },
			"item":      func(tree *pg.ParseResult, s *pg.SelectStmt) { s.TargetList[0] = node },
			"value":     func(tree *pg.ParseResult, s *pg.SelectStmt) { s.TargetList[0].GetResTarget().Val = node },
			"table":     func(tree *pg.ParseResult, s *pg.SelectStmt) { s.FromClause[0] = node },
			"condition": func(tree *pg.ParseResult, s *pg.SelectStmt) { s.WhereClause = node },
			"key":       func(tree *pg.ParseResult, s *pg.SelectStmt) { s.GroupClause[0] = node },
			"order":     func(tree *pg.ParseResult, s *pg.SelectStmt) { s.SortClause[0] = node },
			"limit":     func(tree *pg.ParseResult, s *pg.SelectStmt) { s.LimitCount = node },
			"distinct":  func(tree *pg.ParseResult, s *pg.SelectStmt) { s.DistinctClause = []*pg.Node{node} },
		} {
			tree, err := pg.Parse(sql)
			if err != nil {
				t.Fatal(err)
			}
			put(tree, tree.Stmts[0].Stmt.GetSelectStmt())
			if _, d := convert(src, tree, true); d == nil {
				t.Errorf("a %s is accepted as %s", f.Message().Name(), place)
			}
		}
	}
}

// TestModelledFieldsAreRead looks in the sources for each field that the table
// claims to be read. Those below hold places, or constants of the raw grammar.
func TestModelledFieldsAreRead(t *testing.T) {
	unread := []string{"ParseResult.version", "RawStmt.stmt_location", "RawStmt.stmt_len", "A_Expr.rexpr_list_start", "TypeName.typemod", "SortBy.location", "A_ArrayExpr.list_start", "A_ArrayExpr.list_end"}
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, file := range sources {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(b)
	}
	for message, fields := range modelled {
		mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName("pg_query." + message))
		if err != nil {
			t.Fatalf("the parser knows no %s", message)
		}
		for _, field := range fields {
			f := mt.Descriptor().Fields().ByName(field)
			if f == nil {
				t.Errorf("%s has no field %s", message, field)
				continue
			}
			if slices.Contains(unread, string(message)+"."+string(field)) {
				continue
			}
			goName := goField(mt, field)
			if ok, _ := regexp.MatchString(`\.(Get)?`+goName+`\b`, code.String()); !ok {
				t.Errorf("%s of %s is modelled but %s is never read", field, message, goName)
			}
		}
	}
}

// goField returns the name of the struct field or union wrapper of a field.
func goField(mt protoreflect.MessageType, field protoreflect.Name) string {
	typ := reflect.TypeOf(mt.Zero().Interface()).Elem()
	for i := range typ.NumField() {
		if slices.Contains(strings.Split(typ.Field(i).Tag.Get("protobuf"), ","), "name="+string(field)) {
			return typ.Field(i).Name
		}
	}
	return typ.Name() + "_" + strings.ToUpper(string(field[:1])) + string(field[1:])
}

func messages(m protoreflect.Message, f func(protoreflect.Message)) {
	f(m)
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil:
		case fd.IsList():
			for i := range v.List().Len() {
				messages(v.List().Get(i).Message(), f)
			}
		default:
			messages(v.Message(), f)
		}
		return true
	})
}

// set gives a field a value that is not its default.
func set(m protoreflect.Message, f protoreflect.FieldDescriptor) {
	v := m.NewField(f)
	switch {
	case f.IsList():
		v.List().Append(v.List().NewElement())
	case f.Kind() == protoreflect.BoolKind:
		v = protoreflect.ValueOfBool(true)
	case f.Kind() == protoreflect.StringKind:
		v = protoreflect.ValueOfString("x")
	case f.Kind() == protoreflect.EnumKind:
		v = protoreflect.ValueOfEnum(1)
	case f.Kind() == protoreflect.Int32Kind:
		v = protoreflect.ValueOfInt32(1)
	case f.Kind() == protoreflect.Uint32Kind:
		v = protoreflect.ValueOfUint32(1)
	case f.Kind() == protoreflect.Int64Kind:
		v = protoreflect.ValueOfInt64(1)
	case f.Kind() == protoreflect.Uint64Kind:
		v = protoreflect.ValueOfUint64(1)
	}
	m.Set(f, v)
}
