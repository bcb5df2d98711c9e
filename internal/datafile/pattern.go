package datafile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Pattern names several files: those below a folder whose way down matches it. Between
// slashes, * stands for any text, ? for one character, [a-c] for one of several, and **
// by itself for any folders or none. Names that begin with a dot or an underscore match
// only what begins so too: writers of files keep their own notes under such names.
//
// A folder KEY=... of a pattern is a partition, as Hive writes them: what stands behind
// the = in a folder's name is the value of KEY in every record below it.
type Pattern struct {
	Root string   // the folder, absolute
	Keys []string // of the partitions, from the root down
	// levels are the parts of the way down; keyed are the places of partitions among them.
	levels []string
	keyed  []int
}

// A File is one of those that a pattern names.
type File struct {
	Path   string
	Info   fs.FileInfo
	Values []Value // of the pattern's keys
}

// A Value is that of a partition's key in one file.
type Value struct {
	Written string // in the folder's name
	Text    string // what that means
	Null    bool
}

// A Listing is what a pattern names at a time.
type Listing struct {
	Files   []File   // in the order of their paths
	LeftOut []string // what would match if its name did not begin with a dot or an underscore
	Packed  []string // what would match if it were not compressed
}

// MaxFiles bounds the files of a pattern.
const MaxFiles = 100_000

// ErrNoMatch is returned where no file matches a pattern.
var ErrNoMatch = errors.New("no file matches it")

// ErrTwice is wrapped by the error for a file that a pattern names twice.
var ErrTwice = errors.New("are one file")

// IsPattern reports whether a path is a pattern of several files.
func IsPattern(path string) bool { return strings.ContainsAny(path, "*?[") }

// ParsePattern reads a pattern, relative to a folder. Its errors are in words for who
// wrote it.
func ParsePattern(folder, text string) (*Pattern, error) {
	if strings.Contains(text, `\`) {
		return nil, errors.New(`a pattern has no \`)
	}
	p := &Pattern{Root: folder}
	if strings.HasPrefix(text, "/") {
		p.Root = "/"
	}
	deep := false // behind a **
	for part := range strings.SplitSeq(text, "/") {
		key, _, keyed := strings.Cut(part, "=")
		switch {
		case part == "" || part == ".":
			continue
		case len(p.levels) == 0 && !IsPattern(part) && !keyed:
			p.Root = filepath.Join(p.Root, part)
			continue
		case part == "..":
			return nil, errors.New(".. stands behind a folder of many names")
		case part == "**":
			deep = true
		case strings.Contains(part, "**"):
			return nil, errors.New("** stands for folders, and by itself between slashes")
		case strings.Contains(part, "[!"):
			return nil, errors.New("what is not to match is written [^...]")
		}
		if _, err := path.Match(part, ""); err != nil {
			return nil, fmt.Errorf("%q is no pattern", part)
		}
		if keyed {
			if key = unescape(key); key == "" || IsPattern(key) {
				return nil, errors.New("before = stands the name of a partition's column")
			}
			if slices.Contains(p.Keys, key) {
				return nil, fmt.Errorf("partition %q stands in it twice", key)
			}
			if deep {
				return nil, errors.New("partitions stand before **, so that their place is known")
			}
			p.Keys, p.keyed = append(p.Keys, key), append(p.keyed, len(p.levels))
		}
		p.levels = append(p.levels, part)
	}
	last := len(p.levels) - 1
	if n := len(p.keyed); n > 0 && p.keyed[n-1] == last { // a file is no partition
		p.Keys, p.keyed = p.Keys[:n-1], p.keyed[:n-1]
	}
	if last < 0 || p.levels[last] == "**" {
		return nil, errors.New("behind the last slash it names no files")
	}
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", p.Root, err)
	}
	p.Root = root
	return p, nil
}

// Level is the place of a key's folder on the way from the root, from 0.
func (p *Pattern) Level(key int) int { return p.keyed[key] }

// List returns the files that match now. What matches and is no regular file is an error,
// and so is a file that matches by two names: its records would count twice. Beside an
// error is what could be listed. ** goes through no links to folders, which may lead in
// circles.
func (p *Pattern) List() (*Listing, error) {
	l := &lister{Pattern: p, seen: map[any]string{}}
	l.folder(p.Root, nil, p.levels)
	if len(l.found.Files) == 0 && l.err == nil {
		l.err = &fs.PathError{Op: "list", Path: p.Root, Err: ErrNoMatch}
	}
	slices.SortFunc(l.found.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(l.found.LeftOut)
	slices.Sort(l.found.Packed)
	l.found.LeftOut, l.found.Packed = slices.Compact(l.found.LeftOut), slices.Compact(l.found.Packed)
	return &l.found, l.err
}

type lister struct {
	*Pattern
	found Listing
	seen  map[any]string // the paths of what has an identity
	err   error          // the first
}

func (l *lister) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// folder matches what is in a folder, the way of which from the root is known.
func (l *lister) folder(at string, way, levels []string) {
	entries, err := os.ReadDir(at)
	if err != nil {
		if len(way) > 0 || !errors.Is(err, fs.ErrNotExist) { // without a root nothing matches
			l.fail(fmt.Errorf("list files: %w", err))
		}
		return
	}
	level, rest := levels[0], levels[1:]
	if level == "**" {
		l.folder(at, way, rest) // no folder
	}
	for _, e := range entries {
		name := e.Name()
		matches, _ := path.Match(level, name) // that it is a pattern is known
		if level == "**" {
			matches = e.IsDir()
		}
		if !matches {
			if plain, packed := unpacked(name); packed && len(rest) == 0 && !e.IsDir() && !hidden(name) {
				if would, _ := path.Match(level, plain); would {
					l.found.Packed = append(l.found.Packed, strings.Join(append(way[:len(way):len(way)], name), "/"))
				}
			}
			continue
		}
		on, below := filepath.Join(at, name), append(way[:len(way):len(way)], name)
		switch {
		case hidden(name) && name[0] != level[0]:
			l.found.LeftOut = append(l.found.LeftOut, strings.Join(below, "/"))
		case len(rest) == 0:
			l.file(on, below)
		case level == "**":
			l.folder(on, below, levels)
		default:
			if info, err := os.Stat(on); err != nil {
				l.fail(fmt.Errorf("list files: %w", err))
			} else if info.IsDir() {
				l.folder(on, below, rest)
			}
		}
	}
}

// unpacked is a name without the ending that says how a file is compressed.
func unpacked(name string) (plain string, packed bool) {
	for _, ending := range []string{".gz", ".zst"} {
		if at := len(name) - len(ending); at > 0 && strings.EqualFold(name[at:], ending) {
			return name[:at], true
		}
	}
	return name, false
}

func hidden(name string) bool { return name[0] == '.' || name[0] == '_' }

// file adds one file.
func (l *lister) file(path string, way []string) {
	info, err := Stat(path)
	if err != nil {
		l.fail(err)
		return
	}
	if len(l.found.Files) == MaxFiles {
		l.fail(&fs.PathError{Op: "list", Path: l.Root, Err: fmt.Errorf("more than %d files match", MaxFiles)})
		return
	}
	if other, ok := l.twin(info); ok {
		if other != path { // else ** leads to it by two ways
			l.fail(fmt.Errorf("%s and %s %w", min(other, path), max(other, path), ErrTwice))
		}
		return
	}
	if IsPattern(strings.Join(way, "")) || !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		l.fail(&fs.PathError{Op: "list", Path: path, Err: errors.New("its name has one of * ? [, or is not text")})
	}
	if id := Identity(info); id != nil {
		l.seen[id] = path
	}
	f := File{Path: path, Info: info, Values: make([]Value, len(l.keyed))}
	for i, at := range l.keyed {
		_, written, _ := strings.Cut(way[at], "=")
		f.Values[i] = valueOf(written)
	}
	l.found.Files = append(l.found.Files, f)
}

// twin returns the path of a file that was listed before and is this one.
func (l *lister) twin(info fs.FileInfo) (path string, ok bool) {
	if id := Identity(info); id != nil {
		path, ok = l.seen[id]
		return path, ok
	}
	for _, f := range l.found.Files {
		if os.SameFile(f.Info, info) {
			return f.Path, true
		}
	}
	return "", false
}

// noValue is what Hive and Spark call the partition of records without a value.
const noValue = "__HIVE_DEFAULT_PARTITION__"

// valueOf is the value that a folder's name has. What is no text, or holds what no text
// can, is NULL.
func valueOf(written string) Value {
	v := Value{Written: written, Text: unescape(written)}
	if v.Null = written == noValue || !utf8.ValidString(v.Text) || strings.ContainsRune(v.Text, 0); v.Null {
		v.Text = ""
	}
	return v
}

// unescape replaces %3A by a colon, and so on. What is no such sign stays.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+3 <= len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
