package sqlparse

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// visit calls f for every struct of the tree that has a Span, parents first,
// with the span of the nearest parent.
func visit(v reflect.Value, parent diagnostic.Span, f func(v reflect.Value, span, parent diagnostic.Span)) {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), parent, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), parent, f)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[diagnostic.Span]() {
			return
		}
		if s := v.FieldByName("Span"); s.IsValid() {
			span := s.Interface().(diagnostic.Span)
			if v.Type() == reflect.TypeFor[Ident]() && span == (diagnostic.Span{}) {
				return // a name that is not there
			}
			f(v, span, parent)
			parent = span
		}
		for i := range v.NumField() {
			visit(v.Field(i), parent, f)
		}
	}
}

// checkSpans fails unless every node's text lies within its parent's, holds
// whole parentheses, and a name's is that name.
func checkSpans(t testing.TB, q *Query, text string) {
	t.Helper()
	visit(reflect.ValueOf(q), diagnostic.Span{Start: 0, End: len(text)}, func(v reflect.Value, span, parent diagnostic.Span) {
		if span.Start < parent.Start || span.End > parent.End || span.Start >= span.End {
			t.Fatalf("%s: span %v of %s is not within %v", text, span, v.Type().Name(), parent)
		}
		part := text[span.Start:span.End]
		if src, d := scan(part); d != nil || src.balance(diagnostic.Span{Start: 0, End: len(part)}) != (diagnostic.Span{Start: 0, End: len(part)}) {
			t.Fatalf("%s: span of %s cuts a token: %s", text, v.Type().Name(), part)
		} else {
			depth := 0
			for _, t := range src.list {
				switch t.kind {
				case '(':
					depth++
				case ')':
					depth--
				}
			}
			if depth != 0 {
				t.Fatalf("%s: span of %s has unbalanced parentheses: %s", text, v.Type().Name(), part)
			}
		}
		if v.Type() == reflect.TypeFor[Name]() && v.FieldByName("Qualifier").FieldByName("Name").String() == "" {
			if name := v.FieldByName("Column").FieldByName("Name").String(); !strings.ContainsAny(part, `"\`) && !strings.EqualFold(part, name) {
				t.Fatalf("%s: the name %s is at %s", text, name, part)
			}
		}
	})
}

// dumpSpans prints each node's type and text.
func dumpSpans(q *Query, text string) string {
	var b strings.Builder
	visit(reflect.ValueOf(q), diagnostic.Span{}, func(v reflect.Value, span, _ diagnostic.Span) {
		fmt.Fprintf(&b, "%-12s %s\n", v.Type().Name(), strings.ReplaceAll(text[span.Start:span.End], "\n", " "))
	})
	return b.String()
}

// depthOf returns the nesting of the tree in structs.
func depthOf(v any) int {
	var depth func(v reflect.Value) int
	depth = func(v reflect.Value) int {
		n := 0
		switch v.Kind() {
		case reflect.Interface, reflect.Pointer:
			if !v.IsNil() {
				n = depth(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				n = max(n, depth(v.Index(i)))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				n = max(n, depth(v.Field(i)))
			}
			n++
		}
		return n
	}
	return depth(reflect.ValueOf(v))
}
