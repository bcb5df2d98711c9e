package pgcatalog

import (
	"context"
	"testing"
)

// What a client waits for: the first statement of a session, and one of psql's \d.
func BenchmarkQuery(b *testing.B) {
	server := New()
	s := session(b)
	for name, sql := range map[string]string{
		"version":                    "select version()",
		"tables":                     "select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'v') and n.nspname = 'public' and pg_table_is_visible(c.oid) order by 1",
		"columns":                    "select a.attname, format_type(a.atttypid, a.atttypmod) from pg_attribute a where a.attrelid = 'visits'::regclass and a.attnum > 0",
		"information_schema.columns": "select column_name, data_type from information_schema.columns where table_schema = 'public'",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := server.Query(context.Background(), s, sql, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New()
	}
}
