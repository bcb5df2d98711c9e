package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// compiled says of a module that it brings DuckDB compiled.
func compiled(module string) bool {
	return strings.HasPrefix(module, "github.com/duckdb/duckdb-go-bindings/lib/")
}

// Each static library of the module, by its file: the licence of what is in it, "" for
// DuckDB's own code. The module has no texts but DuckDB's.
var libraries = map[string]string{
	"libduckdb_static": "", "libautocomplete_extension": "", "libcore_functions_extension": "", "libjson_extension": "", "libparquet_extension": "",
	"libduckdb_generated_extension_loader": "",
	"libtpch_extension":                    "LicenseRef-TPC", "libtpcds_extension": "LicenseRef-TPC",
	"libicu_extension":      "Unicode-3.0",
	"libduckdb_fastpforlib": "Apache-2.0",
	"libduckdb_fmt":         "MIT",
	"libduckdb_fsst":        "MIT",
	"libduckdb_hyperloglog": "BSD-3-Clause",
	"libduckdb_jemalloc":    "BSD-2-Clause",
	"libduckdb_mbedtls":     "Apache-2.0",
	"libduckdb_miniz":       "MIT",
	"libduckdb_pg_query":    "BSD-3-Clause",
	"libduckdb_re2":         "BSD-3-Clause",
	"libduckdb_skiplistlib": "MIT",
	"libduckdb_utf8proc":    "MIT",
	"libduckdb_yyjson":      "MIT",
	"libduckdb_zstd":        "BSD-3-Clause",
}

// bundled are the libraries that DuckDB brings.
func bundled(dir, version string) (parts []part, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.a"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".a")
		licence, ok := libraries[name]
		if !ok {
			return nil, fmt.Errorf("nobody has said what is in %s of DuckDB %s", name, version)
		}
		if licence == "" {
			continue
		}
		parts = append(parts, part{
			name: "DuckDB's " + strings.TrimPrefix(strings.TrimPrefix(name, "lib"), "duckdb_"), version: version, licence: licence,
			note: "It is compiled into DuckDB, whose module brings its code without its text: the text stands in DuckDB's sources,\nhttps://github.com/duckdb/duckdb, in third_party or extension.",
		})
	}
	return parts, nil
}
