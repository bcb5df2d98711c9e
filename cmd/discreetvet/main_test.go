package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a program and returns what it printed.
func run(t *testing.T, dir string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// go vet takes the tool, and the tool finds what the analyzer's tests say. Solvers
// that would leave a trace are not started.
func TestVet(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	tool, trace := filepath.Join(bin, "discreetvet"), filepath.Join(bin, "started")
	if out, err := run(t, ".", nil, goTool, "build", "-o", tool, "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	solvers := filepath.Join(bin, "solvers")
	if err := os.Mkdir(solvers, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"z3", "cvc5"} {
		if err := os.WriteFile(filepath.Join(solvers, name), []byte("#!/bin/sh\n: > "+trace+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"PATH=" + solvers, "CGO_ENABLED=0"}

	out, err := run(t, "../../verify/analyzer/testdata/claims", env, goTool, "vet", "-vettool="+tool, ".")
	if err == nil {
		t.Error("claims without a proof pass")
	}
	for _, want := range []string{
		"Missing: no proof is stored", ": a goroutine: ", ": directive //dp:cots: ", ": Twice: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "claims_test.go") {
		t.Errorf("a test is held to claims:\n%s", out)
	}
	if out, err := run(t, "../../verify/analyzer/testdata/quiet", env, goTool, "vet", "-vettool="+tool, "."); err != nil || out != "" {
		t.Errorf("a package without claims: %v\n%s", err, out)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a solver was started")
	}
}
