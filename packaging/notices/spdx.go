package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

type spdx struct {
	Version       string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []spdxPackage  `json:"packages"`
	Relationships []relationship `json:"relationships"`
	Extracted     []extracted    `json:"hasExtractedLicensingInfos,omitempty"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type spdxPackage struct {
	ID        string     `json:"SPDXID"`
	Name      string     `json:"name"`
	Version   string     `json:"versionInfo,omitempty"`
	Location  string     `json:"downloadLocation"`
	Analyzed  bool       `json:"filesAnalyzed"`
	Concluded string     `json:"licenseConcluded"`
	Declared  string     `json:"licenseDeclared"`
	Copyright string     `json:"copyrightText"`
	External  []external `json:"externalRefs,omitempty"`
}

type external struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

type extracted struct {
	ID   string `json:"licenseId"`
	Text string `json:"extractedText"`
}

const (
	documentID = "SPDXRef-DOCUMENT"
	program    = "github.com/discreet-dp/discreet"
)

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// document is the parts list. Its name space is a hash of the list, so that two lists
// that differ have two.
func document(parts []part, made time.Time) spdx {
	d := spdx{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID, Name: "discreet",
		Creation: creation{made.Format(time.RFC3339), []string{"Tool: " + program + "/packaging/notices"}},
	}
	ref := func(p part) string { return "SPDXRef-" + strings.Trim(notInID.ReplaceAllString(p.name, "-"), "-") }
	for _, p := range parts {
		made := spdxPackage{ID: ref(p), Name: p.name, Version: p.version, Location: "NOASSERTION", Concluded: p.licence, Declared: p.licence, Copyright: "NOASSERTION"}
		if first, _, _ := strings.Cut(p.name, "/"); strings.Contains(first, ".") {
			locator := "pkg:golang/" + strings.ToLower(p.name)
			if p.version != "" {
				locator += "@" + strings.ReplaceAll(p.version, "+", "%2B")
			}
			made.External = []external{{"PACKAGE-MANAGER", "purl", locator}}
		}
		if name, is := strings.CutPrefix(p.name, npm); is {
			made.External = []external{{"PACKAGE-MANAGER", "purl", "pkg:npm/" + strings.ReplaceAll(name, "@", "%40") + "@" + p.version}}
		}
		d.Packages = append(d.Packages, made)
		if p.name == program {
			d.Relationships = append(d.Relationships, relationship{documentID, "DESCRIBES", made.ID})
			continue
		}
		d.Relationships = append(d.Relationships, relationship{ref(part{name: program}), "CONTAINS", made.ID})
		if strings.HasPrefix(p.licence, "LicenseRef-") && len(d.Extracted) == 0 {
			d.Extracted = []extracted{{p.licence, "The licence of the TPC's data generators: https://www.tpc.org/tpc_documents_current_versions/source/tpc_eula_v2.2.0.txt"}}
		}
	}
	list, err := json.Marshal(d)
	if err != nil { // strings alone
		panic(err)
	}
	d.Namespace = fmt.Sprintf("https://%s/parts/%x", program, sha256.Sum256(list))
	return d
}
