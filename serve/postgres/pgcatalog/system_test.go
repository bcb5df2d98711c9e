package pgcatalog

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/postgrestest"
)

var rewrite = flag.Bool("rewrite", false, "write system.txt.gz anew from the PostgreSQL server that is installed")

// systemRelations are the relations whose rows are taken over from a fresh server: facts of
// types, functions and operators by which clients resolve names. What differs by
// installation has a fixed value, and what is PostgreSQL's own text or code is left out.
var systemRelations = []struct {
	name  string
	order string
	where string
	fixed map[string]string
}{
	{"pg_namespace", "oid", "", map[string]string{"nspacl": `\N`, "nspowner": "10"}},
	{"pg_class", "oid", "", map[string]string{"relowner": "10", "relfilenode": "0", "relpages": "0", "reltuples": "-1", "relallvisible": "0",
		"relfrozenxid": "0", "relminmxid": "0", "relacl": `\N`, "relpartbound": `\N`}},
	{"pg_attribute", "attrelid, attnum", "", map[string]string{"attacl": `\N`}},
	{"pg_type", "oid", "", map[string]string{"typacl": `\N`, "typdefaultbin": `\N`, "typdefault": `\N`}},
	{"pg_proc", "oid", "probin is distinct from '$libdir/plpgsql'", map[string]string{"prosrc": "", "proargdefaults": `\N`, "prosqlbody": `\N`, "proacl": `\N`}},
	{"pg_operator", "oid", "", nil},
	{"pg_cast", "oid", "", nil},
	{"pg_am", "oid", "", nil},
	{"pg_opclass", "oid", "", nil},
	{"pg_opfamily", "oid", "", nil},
	{"pg_amop", "oid", "", nil},
	{"pg_amproc", "oid", "", nil},
	{"pg_aggregate", "aggfnoid::oid", "", nil},
	{"pg_language", "oid", "lanname <> 'plpgsql'", map[string]string{"lanacl": `\N`}},
	{"pg_collation", "oid", "oid < 1000 or collname = 'C.UTF-8' or collname = 'ucs_basic'", map[string]string{"collversion": `\N`}},
	{"pg_conversion", "oid", "", nil},
	{"pg_index", "indexrelid", "", map[string]string{"indexprs": `\N`, "indpred": `\N`}},
	{"pg_constraint", "oid", "", map[string]string{"conbin": `\N`}},
	{"pg_range", "rngtypid", "", nil},
	{"pg_tablespace", "oid", "", map[string]string{"spcacl": `\N`}},
	{"pg_ts_config", "oid", "cfgname = 'simple' or cfgname = 'english'", nil},
	{"pg_ts_dict", "oid", "dictname = 'simple' or dictname = 'english_stem'", nil},
	{"pg_ts_parser", "oid", "", nil},
	{"pg_ts_template", "oid", "", nil},
	{"pg_rewrite", "oid", "", map[string]string{"ev_qual": "", "ev_action": ""}},
}

// systemSettings reads the settings as they are before a file or a command line changes
// them; names of folders are left out.
const systemSettings = `select name,
	case when context = 'internal' and name !~ '^(data_|shared_memory)' or name ~ '^(TimeZone|log_timezone|lc_|default_text_search|DateStyle|client_encoding)' then setting
	     else coalesce(boot_val, '') end as setting,
	unit, '' as category, '' as short_desc, null as extra_desc, context, vartype, 'default' as source, min_val, max_val, enumvals,
	boot_val, boot_val as reset_val, null as sourcefile, null as sourceline, false as pending_restart
	from pg_settings order by name`

// TestSystemIsThatOfAServer holds system to a server of its version, of which it is made
// by go test -run TestSystemIsThatOfAServer -rewrite.
func TestSystemIsThatOfAServer(t *testing.T) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, postgrestest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	var out strings.Builder
	version := text(t, conn, "show server_version")[0][0]
	fmt.Fprintf(&out, "PostgreSQL\t%s\n", strings.Fields(version)[0])
	for _, r := range systemRelations {
		where := ""
		if r.where != "" {
			where = " where " + r.where
		}
		// Functions are written as their numbers: names of functions are ambiguous.
		columns := text(t, conn, fmt.Sprintf("select string_agg(case atttypid when 24 then attname || '::oid' else attname end, ', ' order by attnum) "+
			"from pg_attribute where attrelid = 'pg_catalog.%s'::regclass and attnum > 0", r.name))[1][0]
		write(t, &out, conn, r.name, fmt.Sprintf("select %s from pg_catalog.%s%s order by %s", columns, r.name, where, r.order), r.fixed)
	}
	write(t, &out, conn, "pg_get_keywords", "select * from pg_get_keywords() order by word", nil)
	text(t, conn, "create role somebody")
	text(t, conn, "set session authorization somebody") // who sees what anyone may see
	write(t, &out, conn, "pg_settings", systemSettings, nil)
	if *rewrite {
		var file bytes.Buffer
		w, err := gzip.NewWriterLevel(&file, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(out.String())); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("system.txt.gz", file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	held := system()
	have, _, _ := strings.Cut(held, "\n")
	if _, v, _ := strings.Cut(have, "\t"); strings.Split(v, ".")[0] != strings.Split(version, ".")[0] {
		t.Skipf("skip: the server is of version %s, system.txt.gz of %s", version, v)
	}
	was, is := strings.Split(held, "\n")[1:], strings.Split(out.String(), "\n")[1:]
	for i := range min(len(was), len(is)) {
		if was[i] != is[i] {
			t.Fatalf("line %d is out of date:\nfile   %s\nserver %s", i+2, was[i], is[i])
		}
	}
	if len(was) != len(is) {
		t.Fatalf("the file has %d lines, the server gives %d", len(was), len(is))
	}
}

// write prints a relation: its name, its columns (those with one value in all rows with that
// value), its rows, and an empty line.
func write(t *testing.T, out *strings.Builder, conn *pgx.Conn, name, query string, fixed map[string]string) {
	t.Helper()
	rows := text(t, conn, query)
	names := rows[0]
	rows = rows[1:]
	escape := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	for _, row := range rows {
		for i, v := range row {
			if f, ok := fixed[names[i]]; ok {
				row[i] = f
			} else if v == null {
				row[i] = `\N`
			} else {
				row[i] = escape.Replace(v)
			}
		}
	}
	var varying []int
	fmt.Fprintf(out, "%s", name)
	for i, n := range names {
		if i == 0 || slices.ContainsFunc(rows, func(row []string) bool { return row[i] != rows[0][i] }) {
			varying = append(varying, i)
			fmt.Fprintf(out, "\t%s", n)
		} else {
			fmt.Fprintf(out, "\t%s=%s", n, rows[0][i])
		}
	}
	out.WriteByte('\n')
	for _, row := range rows {
		for k, i := range varying {
			if k > 0 {
				out.WriteByte('\t')
			}
			out.WriteString(row[i])
		}
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
}

// null stands for NULL in what text returns; no value contains it.
const null = "\x00"

// text runs a query by the simple protocol and returns the names of its columns, then its rows.
func text(t *testing.T, conn *pgx.Conn, query string) [][]string {
	t.Helper()
	results, err := conn.PgConn().Exec(context.Background(), query).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var names []string
	if len(results[0].FieldDescriptions) == 0 {
		return nil
	}
	for _, f := range results[0].FieldDescriptions {
		names = append(names, f.Name)
	}
	all := [][]string{names}
	for _, row := range results[0].Rows {
		var values []string
		for _, v := range row {
			if v == nil {
				values = append(values, null)
			} else {
				values = append(values, string(v))
			}
		}
		all = append(all, values)
	}
	if query == "show server_version" {
		return all[1:]
	}
	return all
}
