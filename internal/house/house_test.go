// Package house_test holds the module to the rules of its house: who may import whom
// (deps_test.go), what sources may say (source_test.go), which files they make
// (made_test.go), that what pages name exists (docs_test.go, attacks_test.go), what a
// reader does first (install_test.go), and draws the packages for docs/architecture.md
// (architecture_test.go).
package house_test

import "testing"

// inRoot goes to the module's root, where the paths of all rules begin, until the test
// ends. (A change of folder in TestMain is one that the go command does not see: it
// would take a cached result for that of files that have changed.)
func inRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../..")
}
