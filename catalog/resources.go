package catalog

import (
	"path/filepath"
	"regexp"
	"strconv"
)

// Resources are what the engine may use. They are the owner's to say: whoever could make
// them small would decide where private data make an answer fail. Zero values leave it
// to the engine.
type Resources struct {
	Memory  string // a size such as "4GB" or "512MiB"
	Threads int
	Temp    string // the folder for what does not fit in memory; absolute, or relative to the working directory
}

var size = regexp.MustCompile(`^([0-9]+)(\.[0-9]+)? ?([KMGT]i?)?B$`)

const maxThreads = 4096

func (l *loader) resources(n *node) {
	l.keys(n, "memory", "threads", "temp")
	r := &l.catalog.Resources
	if text, ok := l.str(n.field("memory")); ok {
		if m := size.FindStringSubmatch(text); m == nil || zero(m[1]) && zero(m[2]) {
			l.refuse("D084", n.field("memory").value, "%q is not a size of memory", text).Try(`write it as "4GB" or "512MiB"`)
		}
		r.Memory = text
	}
	if x := n.field("threads"); x != nil {
		if i, ok := x.data.(int64); !ok {
			l.wrong(x, "a whole number")
		} else if i < 1 || i > maxThreads {
			l.refuse("D084", x.value, "threads must lie between 1 and %s", strconv.Itoa(maxThreads))
		} else {
			r.Threads = int(i)
		}
	}
	if text, ok := l.str(n.field("temp")); ok {
		if why := BadName(text); why != "" {
			l.refuse("D084", n.field("temp").value, "%q cannot be a folder: it %s", text, why)
		}
		if r.Temp = filepath.Clean(text); !filepath.IsAbs(r.Temp) {
			r.Temp = filepath.Join(filepath.Dir(l.catalog.Path), r.Temp)
		}
	}
}

// zero reports whether the digits of a number, if any, are all zero.
func zero(digits string) bool { return regexp.MustCompile(`^[.0]*$`).MatchString(digits) }
