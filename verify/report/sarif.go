package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/verify"
)

// The objects of SARIF 2.1.0 (OASIS standard of 27 March 2020) that are used.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string       `json:"id"`
		Name                 string       `json:"name"`
		ShortDescription     sarifMessage `json:"shortDescription"`
		FullDescription      sarifMessage `json:"fullDescription"`
		DefaultConfiguration sarifConfig  `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifMessage      `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Fingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI    string `json:"uri"`
		BaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// rules are what a result may be of; a claim that is proved makes none.
var rules = []sarifRule{
	rule("refuted", "ClaimRefuted", "error", "The claim is false",
		"Two neighbouring inputs and an event are known whose probabilities, within the intervals that stand in the message, exclude the claim."),
	rule("refuted-statistical", "ClaimRefutedBySamples", "error", "The claim is false, by samples",
		"Samples exclude the claim, with the confidence that stands in the message."),
	rule("proved-bounded", "ClaimProvedUpToASize", "warning", "The claim is proved for small inputs only",
		"The proof holds up to the size that stands in the message. Larger inputs may reveal more."),
	rule("unknown", "ClaimUnknown", "warning", "The claim is neither proved nor refuted",
		"No proof and no counterexample was found; the message says what was tried."),
	rule("vacuous", "ClaimOfNoInputs", "error", "The claim speaks of no inputs",
		"No inputs were found that meet what the claim requires and may have neighbours. If there are none, it says nothing."),
	rule("unproved", "StepUnproved", "warning", "No proof goes beyond this step",
		"A claim stays unknown because nothing was found that proves this step."),
	rule("outside", "OutsideTheSubset", "warning", "Outside the subset of Go that is verified",
		"Claims are checked for functions of a subset of Go; the message names the nearest thing inside."),
	rule("directive", "MalformedDirective", "error", "A directive that makes no claim",
		"A comment begins with //dp: and says nothing that is understood, so that nothing is checked."),
	rule("certificate", "CertificateDoesNotHold", "warning", "A stored proof that is missing, stale or wrong",
		"discreet verify stores proofs beside the code; this one is not of this function, or does not prove its claim."),
}

func rule(id, name, level, short, full string) sarifRule {
	return sarifRule{"privacy/" + id, name, sarifMessage{short}, sarifMessage{full}, sarifConfig{level}}
}

// SARIF writes a report for tools of code review, in the format SARIF 2.1.0. Files
// are named relative to root where they are below it.
func SARIF(w io.Writer, r *verify.Report, root string, read Reader) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name:           "discreet verify",
			InformationURI: "https://github.com/discreet-dp/discreet",
			Rules:          rules,
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	files := lines{read: read}
	add := func(id string, result *verify.Result, p verify.Problem) {
		i := ruleIndex(id)
		physical := sarifPhysical{Artifact: artifact(p.File, root)}
		if p.Line > 0 {
			physical.Region = &sarifRegion{p.Line, codePoints(files.line(p.File, p.Line), p.Column)}
		}
		name := strings.TrimSuffix(result.Package+"."+result.Function, ".")
		sum := sha256.Sum256([]byte(strings.Join([]string{id, name, p.Text}, "\x00")))
		run.Results = append(run.Results, sarifResult{
			RuleID: rules[i].ID, RuleIndex: i, Level: rules[i].DefaultConfiguration.Level,
			Message:      sarifMessage{p.Text},
			Locations:    []sarifLocation{{physical, []sarifLogical{{name, "function"}}}},
			Fingerprints: map[string]string{"claim/v1": hex.EncodeToString(sum[:16])},
		})
	}
	for i := range r.Results {
		result := &r.Results[i]
		if result.Verdict != verify.Proved && result.Function != "" { // a directive of no function is a problem alone
			add(string(result.Verdict), result, verify.Problem{File: result.File, Line: result.Line, Column: result.Column, Text: Message(result)})
		}
		for _, p := range result.Problems {
			if p.Hint != "" {
				p.Text += "; " + p.Hint
			}
			if p.File == "" {
				p.File = result.File
			}
			add(string(p.Kind), result, p)
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	return nil
}

// ruleIndex returns that of a verdict's or a problem's rule; what is new is unknown.
func ruleIndex(id string) int {
	unknown := 0
	for i, r := range rules {
		switch r.ID {
		case "privacy/" + id:
			return i
		case "privacy/unknown":
			unknown = i
		}
	}
	return unknown
}

// artifact is a URI reference to a file (RFC 3986), relative to the root of the
// sources if it lies there.
func artifact(file, root string) sarifArtifact {
	if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) && filepath.IsAbs(file) == filepath.IsAbs(root) {
		return sarifArtifact{escapePath("./" + filepath.ToSlash(rel))[2:], "%SRCROOT%"}
	}
	if filepath.IsAbs(file) {
		return sarifArtifact{URI: "file://" + escapePath(filepath.ToSlash(file))}
	}
	return sarifArtifact{escapePath(filepath.ToSlash(file)), "%SRCROOT%"}
}

// escapePath percent-encodes all of a path but what RFC 3986 calls unreserved, and
// slashes.
func escapePath(path string) string {
	const unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/"
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; strings.IndexByte(unreserved, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// codePoints is a 1-based column counted in characters, given one counted in bytes.
func codePoints(line string, column int) int {
	if column < 1 {
		return 1
	}
	if column-1 > len(line) { // the line is not known
		return column
	}
	return utf8.RuneCountInString(line[:column-1]) + 1
}
