package sqltype

import (
	"errors"
	"fmt"
	"strings"
)

// ParseArray reads PostgreSQL's text form of an array of one dimension, as in {1,NULL,"a b"}: its
// elements' texts, nil for NULL. What lies before the brace, the bounds of a dimension, says
// where PostgreSQL counts from, and is passed over.
func ParseArray(s string) ([]*string, error) {
	s = strings.Trim(s, space)
	if strings.HasPrefix(s, "[") {
		bounds, rest, ok := strings.Cut(s, "=")
		if !ok || strings.Trim(bounds, "[]:+-0123456789"+space) != "" || strings.Contains(bounds, "][") {
			return nil, errors.New("the bounds before an array are written as in [0:1]={1,2}")
		}
		s = strings.TrimLeft(rest, space)
	}
	if !strings.HasPrefix(s, "{") {
		return nil, errors.New("an array begins with {")
	}
	var all []*string
	for rest := strings.TrimLeft(s[1:], space); ; {
		if rest == "" {
			return nil, errEndless
		}
		if rest[0] == '}' && len(all) == 0 {
			return all, nothing(rest[1:])
		}
		element, after, err := parseElement(rest)
		if err != nil {
			return nil, err
		}
		all = append(all, element)
		switch rest = strings.TrimLeft(after, space); {
		case rest == "":
			return nil, errEndless
		case rest[0] == '}':
			return all, nothing(rest[1:])
		case rest[0] != ',':
			return nil, fmt.Errorf("after element %d stands neither a comma nor }", len(all))
		}
		rest = strings.TrimLeft(rest[1:], space)
	}
}

// space is what PostgreSQL passes over between elements.
const space = " \t\n\v\f\r"

var errEndless = errors.New("the array does not end with }")

// nothing refuses what follows an array.
func nothing(rest string) error {
	if rest != "" {
		return errors.New("something follows the array")
	}
	return nil
}

// parseElement reads one element and returns what follows it.
func parseElement(s string) (element *string, rest string, err error) {
	var b strings.Builder
	if s[0] == '"' {
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '"':
				text := b.String()
				return &text, s[i+1:], nil
			case '\\':
				if i++; i == len(s) {
					return nil, "", errEndless
				}
			}
			b.WriteByte(s[i])
		}
		return nil, "", errEndless
	}
	// Spaces at the end are not the element's, unless a backslash stands before them.
	kept, escaped := 0, false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',', '}':
			text := b.String()[:kept]
			if text == "" {
				return nil, "", errors.New("an element is empty: an empty text is written \"\"")
			}
			if strings.EqualFold(text, "null") && !escaped {
				return nil, s[i:], nil
			}
			return &text, s[i:], nil
		case '{':
			return nil, "", errors.New("it has more than one dimension")
		case '"':
			return nil, "", errors.New("a quote stands within an element")
		case '\\':
			if i++; i == len(s) {
				return nil, "", errEndless
			}
			b.WriteByte(s[i])
			kept, escaped = b.Len(), true
			continue
		}
		b.WriteByte(s[i])
		if !strings.ContainsRune(space, rune(s[i])) {
			kept = b.Len()
		}
	}
	return nil, "", errEndless
}

// FormatArray writes elements as ParseArray reads them.
func FormatArray(elements []*string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	parts := make([]string, len(elements))
	for i, e := range elements {
		if parts[i] = "NULL"; e != nil {
			parts[i] = `"` + quoted.Replace(*e) + `"`
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}
