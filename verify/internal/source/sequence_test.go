package source_test

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/verify/internal/program"
	"github.com/discreet-dp/discreet/verify/internal/source"
)

// A function that returns the sequence of another one is that one; noise that is drawn
// before the sequence begins is refused in either.
func TestSequenceOfAnother(t *testing.T) {
	read, err := source.Load(context.Background(), ".", "./testdata/sequence")
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]string{}
	for _, u := range read[0].Units {
		if u.Name == "Drawn" {
			if u.Function != nil || len(u.Refusals) != 1 || !strings.Contains(u.Refusals[0].What, "drawn before it begins") {
				t.Errorf("%s: %v", u.Name, u.Refusals)
			}
			continue
		}
		if u.Function == nil || u.Claim == nil {
			t.Fatalf("%s: %v", u.Name, u.Refusals)
		}
		_, text, _ := strings.Cut(program.Print(u.Function), "\n")
		body[u.Name] = strings.ReplaceAll(text, "Direct.", "")
	}
	if body["run.Same"] != body["run.Direct"] || body["run.Same"] == "" {
		t.Errorf("the function:\n%s\nand the one that returns its sequence:\n%s", body["run.Direct"], body["run.Same"])
	}
}
