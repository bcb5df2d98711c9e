package people

import (
	"errors"
	"fmt"
	"regexp"
)

// Names are plain, so that no two look alike or fold into one another: no case, no
// accents, no spaces, no characters that do not show.
var plain = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,62}$`)

// ErrName: a name of an account or a group is not plain.
var ErrName = errors.New("a name has lower-case letters of ASCII, digits and . _ @ -, begins with a letter or digit, and has at most 63 of them")

func checkName(name string) error {
	if !plain.MatchString(name) {
		return fmt.Errorf("%q: %w", name, ErrName)
	}
	return nil
}

// The subjects of rules, which are the holders of quotas.
const (
	accountPrefix = "account:"
	groupPrefix   = "group:"
)

func subject(account string) string    { return accountPrefix + account }
func groupSubject(group string) string { return groupPrefix + group }

// Subject is the subject of rules that a word names: an account, or "group:NAME".
func Subject(word string) (string, error) {
	if len(word) > len(groupPrefix) && word[:len(groupPrefix)] == groupPrefix {
		return word, checkName(word[len(groupPrefix):])
	}
	return subject(word), checkName(word)
}
