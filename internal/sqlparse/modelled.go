package sqlparse

import (
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	pg "github.com/sqlc-dev/oliphant"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// modelled lists every node of the parser that a query may contain, with the
// fields that the conversion reads. It is the default deny of this package:
// a node or a field that is not here is refused when it is present, so that a
// new version of the grammar cannot slip a clause past the conversion.
var modelled = map[protoreflect.Name][]protoreflect.Name{
	"ParseResult": {"version", "stmts"},
	"RawStmt":     {"stmt", "stmt_location", "stmt_len"},
	"SelectStmt": {"distinct_clause", "target_list", "from_clause", "where_clause", "group_clause", "having_clause", "window_clause", "values_lists",
		"sort_clause", "limit_offset", "limit_count", "limit_option", "with_clause", "op", "all", "larg", "rarg"},
	"WithClause":      {"ctes", "location"},
	"CommonTableExpr": {"ctename", "aliascolnames", "ctematerialized", "ctequery", "location"},
	"ResTarget":       {"name", "val", "location"},
	"SortBy":          {"node", "sortby_dir", "sortby_nulls", "location"},
	"RangeVar":        {"schemaname", "relname", "inh", "relpersistence", "alias", "location"},
	"RangeSubselect":  {"subquery", "alias", "lateral"},
	"JoinExpr":        {"jointype", "larg", "rarg", "using_clause", "quals"},
	"Alias":           {"aliasname", "colnames"},
	"ColumnRef":       {"fields", "location"},
	"A_Star":          {},
	"A_Const":         {"ival", "fval", "boolval", "sval", "isnull", "location"},
	"Integer":         {"ival"},
	"Float":           {"fval"},
	"Boolean":         {"boolval"},
	"String":          {"sval"},
	"List":            {"items"},
	"A_Expr":          {"kind", "name", "lexpr", "rexpr", "rexpr_list_start", "rexpr_list_end", "location"},
	"BoolExpr":        {"boolop", "args", "location"},
	"FuncCall":        {"funcname", "args", "agg_filter", "agg_star", "agg_distinct", "agg_order", "agg_within_group", "over", "funcformat", "location"},
	"WindowDef":       {"name", "refname", "partition_clause", "order_clause", "frame_options", "start_offset", "end_offset", "location"},
	"A_ArrayExpr":     {"elements", "location", "list_start", "list_end"},
	"CoalesceExpr":    {"args", "location"},
	"MinMaxExpr":      {"op", "args", "location"},
	"CaseExpr":        {"arg", "args", "defresult", "location"},
	"CaseWhen":        {"expr", "result", "location"},
	"TypeCast":        {"arg", "type_name", "location"},
	"TypeName":        {"names", "typmods", "typemod", "array_bounds", "location"},
	"NullTest":        {"arg", "nulltesttype", "location"},
	"BooleanTest":     {"arg", "booltesttype", "location"},
	"ParamRef":        {"number", "location"},
	"GroupingSet":     {"kind", "content", "location"},
	"GroupingFunc":    {"args", "location"},
	"RowExpr":         {"args", "row_format", "location"}, // keys in parentheses
	"SubLink":         {"sub_link_type", "testexpr", "oper_name", "subselect", "location"},
}

// onlyModelled refuses a tree with a node or field that is not modelled. The
// conversion has refused most of them already, in better words.
func onlyModelled(m protoreflect.Message, s *source) *diagnostic.Diagnostic {
	var walk func(m protoreflect.Message, at diagnostic.Span) *diagnostic.Diagnostic
	walk = func(m protoreflect.Message, at diagnostic.Span) (d *diagnostic.Diagnostic) {
		name := m.Descriptor().Name()
		known, ok := modelled[name]
		wrapper := name == "Node" // a union of all nodes: its one field names the type
		if !ok && !wrapper {
			return diagnostic.New("D007", at, "%s is not supported", name).Try("%s", otherFunctions).By(diagnostic.ListFunctions)
		}
		if f := m.Descriptor().Fields().ByName("location"); f != nil && m.Get(f).Int() >= 0 {
			at = s.at(s.index(int(m.Get(f).Int()))).span()
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			if !wrapper && !slices.Contains(known, f.Name()) {
				d = diagnostic.New("D007", at, "%s of %s is not supported", f.Name(), name).Try("leave it out")
				return false
			}
			switch {
			case f.Message() == nil:
			case f.IsList():
				for i := 0; i < v.List().Len() && d == nil; i++ {
					d = walk(v.List().Get(i).Message(), at)
				}
			default:
				d = walk(v.Message(), at)
			}
			return d == nil
		})
		return d
	}
	return walk(m, s.at(0).span())
}

// nodeName returns the parser's name of a node.
func nodeName(n *pg.Node) string {
	var name string
	if n != nil {
		n.ProtoReflect().Range(func(f protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
			name = string(f.Message().Name())
			return false
		})
	}
	return name
}
