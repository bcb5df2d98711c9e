package pgcatalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// samples are values of types, some at the edges.
var samples = map[oid][]string{
	oidBool: {"true"}, oidInt2: {"1", "-32768"}, oidInt4: {"1", "-1", "2147483647"}, oidInt8: {"7", "-9223372036854775808"}, oidOID: {"1259", "0", "4294967295"},
	oidFloat4: {"'1.5'", "'NaN'"}, oidFloat8: {"'-1.5'", "'Infinity'"}, oidNumeric: {"2.5", "-0.1"}, oidText: {"'a,b'", "''", "'ü%'"}, oidName: {"'visits'"},
	oidVarchar: {"'x'"}, oidBpchar: {"'x '"}, oidChar: {"'r'", "''"}, oidUnknown: {"'q'"}, oidTextArray: {"'{a,NULL,\"b c\"}'", "'{}'"},
	oidAnyarray: {"ARRAY[1,2]", "'{}'::text[]", "'1 2'::int2vector", "ARRAY[ARRAY[1]]"}, oidAnyelement: {"3", "'s'::text"}, oidAnynonarray: {"3"}, oidCompatible: {"3"},
	oidCompatNon: {"3"}, oidCompatArray: {"ARRAY[1,2]"}, oidAny: {"'w'::text", "1", "NULL", "ARRAY[1]", "ROW(1,'a')"}, oidJSON: {"'{\"a\": [1]}'"}, oidJSONB: {"'[1]'"},
	oidRecord: {"ROW(1, NULL)"}, oidRegclass: {"'pg_class'"}, oidOidvector: {"'1 2'"}, oidInt2vector: {"'1 2'"}, 75: {"(SELECT a FROM pg_attribute a LIMIT 1)"},
	71: {"(SELECT t FROM pg_type t LIMIT 1)"}, oidXID: {"'3'"}, oidTimestamp: {"'2025-01-01'"}, oidInterval: {"'1 day'"},
}

// Every function that has a meaning here takes all that its types allow.
func TestFunctionsTakeWhatTheirTypesAllow(t *testing.T) {
	k := server.known
	s := session(t)
	s.Catalog.Tables = s.Catalog.Tables[:1] // each statement declares all of them anew
	called := map[string]bool{}
	call := func(name string) {
		for _, p := range k.procedures[name] {
			if p.kind != 'f' && p.kind != 'a' || p.namespace != nsCatalog && k.namespaceName(p.namespace) != "information_schema" {
				continue
			}
			calls := []string{""}
			for i, a := range p.args {
				var more []string
				for _, before := range calls {
					values := samples[a]
					if values == nil {
						values = []string{"NULL"}
					}
					for _, v := range append([]string{"NULL"}, values...) {
						if !polymorphic(a) && a != oidRecord && v[0] != '(' {
							v += "::" + k.typeName(a, -1)
						}
						if i > 0 {
							v = before + ", " + v
						}
						if len(more) < 300 {
							more = append(more, v)
						}
					}
				}
				calls = more
			}
			for _, args := range calls {
				called[name] = true
				sql := fmt.Sprintf("SELECT %s.%s(%s)", k.namespaceName(p.namespace), name, args)
				var e *Error
				if _, err := ask(t, s, sql); errors.As(err, &e) && (e.Message == faulty || strings.HasPrefix(e.SQLState, "XX")) {
					t.Errorf("%s: %v", sql, err)
				}
			}
		}
	}
	for name := range functions {
		call(name)
	}
	for name := range setFunctions {
		call(name)
	}
	for _, name := range []string{"count", "sum", "avg", "min", "max", "bool_and", "every", "bool_or", "array_agg", "string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"} {
		call(name)
	}
	if len(called) < 150 {
		t.Errorf("%d functions were called", len(called))
	}
}
