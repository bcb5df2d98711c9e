package cli

import (
	"os"
	"regexp"
	"runtime/debug"
	"testing"
)

// The version that the program states is the newest of the changelog.
func TestVersionIsTheChangelogs(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (v[0-9]+\.[0-9]+\.[0-9]+)`).FindSubmatch(text)
	if newest == nil || string(newest[1]) != Version {
		t.Errorf("the changelog has %q, the program %s", newest, Version)
	}
}

func TestRevision(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, test := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: "false"}}, "0123456789ab"},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: commit}}, "0123456789ab and changes"},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}, "abc"},
	} {
		if got := revision(test.settings); got != test.want {
			t.Errorf("%v: %q, want %q", test.settings, got, test.want)
		}
	}
}
