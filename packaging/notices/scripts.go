package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// scriptLicences is what the pages serve of the packages of npm that are bundled into their
// scripts: below a line with their names and versions the text of their licence.
const scriptLicences = "serve/web/assets/licences.txt"

var npmPackage = regexp.MustCompile(`(@[a-z0-9-]+/)?[a-z0-9-]+ [0-9]+\.[0-9]+\.[0-9]+`)

// npm begins the names of parts that are packages of npm.
const npm = "npm "

// scripts are the packages that the scripts of the pages hold.
func scripts() (parts []part, err error) {
	words, err := os.ReadFile(scriptLicences)
	if err != nil {
		return nil, fmt.Errorf("read licences of scripts: %w", err)
	}
	var of []int // the parts that the lines belong to
	var body []string
	end := func() error {
		whole := strings.TrimSpace(strings.Join(body, "\n"))
		for _, i := range of {
			p := &parts[i]
			if p.licence = identify(whole); p.licence == "" {
				return fmt.Errorf("%s has no licence that is known", p.name)
			}
			p.texts = []text{{scriptLicences, whole}}
		}
		of, body = nil, nil
		return nil
	}
	for line := range strings.Lines(string(words)) {
		line = strings.TrimSpace(line)
		named := npmPackage.FindAllString(line, -1)
		if len(named) == 0 || strings.Join(named, ", ") != line {
			body = append(body, line)
			continue
		}
		if err := end(); err != nil {
			return nil, err
		}
		for _, n := range named {
			name, version, _ := strings.Cut(n, " ")
			of = append(of, len(parts))
			parts = append(parts, part{name: npm + name, version: version, note: "It is bundled into the scripts of the server's pages."})
		}
	}
	return parts, end()
}
