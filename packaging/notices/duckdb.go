package main

import (
	"embed"
	"fmt"
	"path/filepath"
	"strings"
)

// compiled says of a module that it brings DuckDB compiled.
func compiled(module string) bool {
	return strings.HasPrefix(module, "github.com/duckdb/duckdb-go-bindings/lib/")
}

// release is the version of DuckDB whose sources the texts in licences are taken from, and
// built how the module that brings it compiled calls that.
const release, built = "v1.5.5", "v0.10505."

// licences are the texts of what DuckDB brings, a file a library. The module that brings
// its code compiled has none of them but DuckDB's own.
//
//go:embed licences/*.txt
var licences embed.FS

// A library is one that DuckDB brings: the licence, and the place of its text in the
// sources of DuckDB.
type library struct{ licence, source string }

// archives are the static libraries of the module, by their files: what is in each.
// DuckDB's own code is named without any.
var archives = map[string][]string{
	"libduckdb_static": {"brotli", "concurrentqueue", "fast_float", "httplib", "jaro_winkler", "lz4", "parquet", "pcg", "pdqsort", "ska_sort", "snappy",
		"tdigest", "thrift", "vergesort"}, // headers and files that have no archive of their own
	"libautocomplete_extension": nil, "libcore_functions_extension": nil, "libjson_extension": nil, "libparquet_extension": nil,
	"libduckdb_generated_extension_loader": nil,
	"libtpch_extension":                    {"tpch_extension"}, "libtpcds_extension": {"tpcds_extension"}, "libicu_extension": {"icu_extension"},
	"libduckdb_fastpforlib": {"fastpforlib"}, "libduckdb_fmt": {"fmt"}, "libduckdb_fsst": {"fsst"}, "libduckdb_hyperloglog": {"hyperloglog"},
	"libduckdb_jemalloc": {"jemalloc"}, "libduckdb_mbedtls": {"mbedtls"}, "libduckdb_miniz": {"miniz"}, "libduckdb_pg_query": {"pg_query"},
	"libduckdb_re2": {"re2"}, "libduckdb_skiplistlib": {"skiplistlib"}, "libduckdb_utf8proc": {"utf8proc"}, "libduckdb_yyjson": {"yyjson"},
	"libduckdb_zstd": {"zstd"},
}

var libraries = map[string]library{
	"brotli":          {"MIT", "third_party/brotli/LICENSE"},
	"concurrentqueue": {"BSD-2-Clause", "third_party/concurrentqueue/LICENSE"},
	"fast_float":      {"MIT", "third_party/fast_float/LICENSE"},
	"fastpforlib":     {"Apache-2.0", "third_party/fastpforlib/LICENSE"},
	"fmt":             {"MIT", "third_party/fmt/LICENSE"},
	"fsst":            {"MIT", "third_party/fsst/LICENSE"},
	"httplib":         {"MIT", "third_party/httplib/LICENSE"},
	"hyperloglog":     {"MIT AND BSD-3-Clause", "third_party/hyperloglog/LICENSE and the head of hyperloglog.cpp"},
	"icu_extension":   {"Unicode-3.0", "extension/icu/third_party/icu/LICENSE"},
	"jaro_winkler":    {"MIT", "third_party/jaro_winkler/LICENSE"},
	"jemalloc":        {"BSD-2-Clause", "third_party/jemalloc/LICENSE"},
	"lz4":             {"BSD-2-Clause", "third_party/lz4/LICENSE"},
	"mbedtls":         {"Apache-2.0", "third_party/mbedtls/LICENSE"},
	"miniz":           {"MIT", "third_party/miniz/LICENSE"},
	"parquet":         {"Apache-2.0", "third_party/parquet/LICENSE"},
	"pcg":             {"MIT", "third_party/pcg/LICENSE"},
	"pdqsort":         {"Zlib", "third_party/pdqsort/LICENSE"},
	"pg_query":        {"BSD-3-Clause", "third_party/libpg_query/LICENSE"},
	"re2":             {"BSD-3-Clause", "third_party/re2/LICENSE"},
	"ska_sort":        {"BSL-1.0", "third_party/ska_sort/LICENSE"},
	"skiplistlib":     {"MIT", "third_party/skiplist/LICENSE"},
	"snappy":          {"BSD-3-Clause", "third_party/snappy/LICENSE"},
	"tdigest":         {"Apache-2.0", "third_party/tdigest/LICENSE and NOTICES"},
	"thrift":          {"Apache-2.0", "third_party/thrift/thrift/LICENSE"},
	"tpcds_extension": {"LicenseRef-TPC", "extension/tpch/dbgen/LICENSE, the same for both"},
	"tpch_extension":  {"LicenseRef-TPC", "extension/tpch/dbgen/LICENSE"},
	"utf8proc":        {"MIT", "third_party/utf8proc/LICENSE"},
	"vergesort":       {"MIT", "third_party/vergesort/LICENSE"},
	"yyjson":          {"MIT", "third_party/yyjson/LICENSE"},
	"zstd":            {"BSD-3-Clause", "third_party/zstd/LICENSE"},
}

// bundled are the libraries that DuckDB brings, each with the text of its licence.
func bundled(dir, version string) (parts []part, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.a"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		archive := strings.TrimSuffix(filepath.Base(file), ".a")
		inside, ok := archives[archive]
		switch {
		case !ok:
			return nil, fmt.Errorf("nobody has said what is in %s of DuckDB %s", archive, version)
		case !strings.HasPrefix(version, built):
			return nil, fmt.Errorf("the texts of licences are of DuckDB %s, and %s is linked: take those of its sources", release, version)
		}
		for _, name := range inside {
			l := libraries[name]
			words, err := licences.ReadFile("licences/" + name + ".txt")
			if err != nil {
				return nil, fmt.Errorf("read licence of %s: %w", name, err)
			}
			parts = append(parts, part{
				name: "DuckDB's " + name, version: version, licence: l.licence,
				texts: []text{{l.source, strings.TrimRight(string(words), "\n")}},
				note:  "It is compiled into DuckDB; the text is that of DuckDB's sources, " + release + ".",
			})
		}
	}
	return parts, nil
}
