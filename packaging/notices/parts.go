package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A part is a module that is linked, the standard library, or a library that another
// part brings compiled.
type part struct {
	name, version string
	licence       string // SPDX's name of the licence in the part's root
	texts         []text
	note          string
}

// A text is one licence or notice file of a part.
type text struct{ name, text string }

// linked returns the parts of a program, by name. A part without a licence that is known
// is an error: what may not be passed on is not.
func linked(program string) ([]part, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Module", program)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list what %s links: %w", program, err)
	}
	cmd = exec.Command("go", "env", "GOROOT", "GOVERSION")
	cmd.Stderr = os.Stderr
	env, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask for the standard library: %w", err)
	}
	root, version, _ := strings.Cut(strings.TrimSpace(string(env)), "\n")
	standard, err := read("Go's standard library", version, root, true)
	if err != nil {
		return nil, err
	}
	parts := map[string]part{standard.name: standard}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Replace            *struct{ Path, Version, Dir string }
			}
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		m := p.Module
		if m == nil {
			continue
		}
		if _, ok := parts[m.Path]; ok {
			continue
		}
		made, err := read(m.Path, m.Version, m.Dir, m.Version == "") // the main module's own licence is in its root
		if err != nil {
			return nil, err
		}
		if m.Version == "" {
			made.version = os.Getenv("VERSION")
		}
		parts[m.Path] = made
		if compiled(m.Path) {
			inside, err := bundled(m.Dir, m.Version)
			if err != nil {
				return nil, err
			}
			for _, b := range inside {
				parts[b.name] = b
			}
		}
	}
	all, err := scripts()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

var legal = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)s?([-._].*)?$`)

// read finds the licences in a folder, and below it unless rootOnly.
func read(name, version, dir string, rootOnly bool) (part, error) {
	p := part{name: name, version: version}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != dir && (rootOnly || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !legal.MatchString(d.Name()) && !legal.MatchString(filepath.Base(filepath.Dir(path))) || strings.HasSuffix(d.Name(), ".go") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		p.texts = append(p.texts, text{filepath.ToSlash(file), strings.TrimSpace(string(data))})
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("read the licence of %s: %w", name, err)
	}
	for _, t := range p.texts {
		if !strings.Contains(t.name, "/") && p.licence == "" {
			p.licence = identify(t.text)
		}
	}
	if p.licence == "" {
		return p, fmt.Errorf("%s %s has no licence that is known", name, version)
	}
	return p, nil
}

// identify names a licence by the words that only it has; "" if it is none of these.
func identify(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	has := func(words string) bool { return strings.Contains(text, words) }
	switch {
	case has("your choice of exactly one of") && has("FreeType License"): // or the GPL
		return "FTL"
	case has("Apache License") && has("Version 2.0"):
		return "Apache-2.0"
	case has("Permission is hereby granted, free of charge"):
		return "MIT"
	case has("Redistribution and use in source and binary forms") && (has("Neither the name") || has("The names of")):
		return "BSD-3-Clause"
	case has("Redistribution and use in source and binary forms"):
		return "BSD-2-Clause"
	case has("Permission to use, copy, modify, and/or distribute this software"), has("Permission to use, copy, modify, and distribute this software"):
		return "ISC"
	case has("Mozilla Public License"):
		return "MPL-2.0"
	case has("This is free and unencumbered software released into the public domain"):
		return "Unlicense"
	}
	return ""
}
