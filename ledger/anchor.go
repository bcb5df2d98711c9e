package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// An anchor is a small file that remembers the head of a ledger: after it, an
// older copy of the ledger is behind it. It is written after the ledger's commit,
// so it may lag behind the ledger, never be ahead of it; and before an answer
// leaves, so every charge that has bought something is under it. A reservation
// alone buys nothing and does not wait for it.
//
// The file is two lines of one length, written in turn in place: a line that a
// crash has torn fails its checksum, and the other one counts. That is one fsync
// a write, where replacing the file would be two.
type anchor struct {
	path    string
	genesis digest
	chain   chain
	locked  bool // against other processes, where no lock of the ledger's own does that
}

const anchorFormat = "discreet anchor 1 ledger %x record %019d hash %x check %x\n"

// line returns the anchor's line for a head.
func (a *anchor) line(head record) string {
	check := a.chain.digest([]byte("anchor"), a.genesis[:], fmt.Append(nil, head.seq), head.hash[:])
	return fmt.Sprintf(anchorFormat, a.genesis, head.seq, head.hash, check[:8])
}

func (a *anchor) create(head record) error {
	path, line := a.path, a.line(head)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return fmt.Errorf("create anchor: %w", err)
	}
	tmp := f.Name()
	_, err = f.WriteString(line + line)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = errors.Join(os.Rename(tmp, path), syncDir(filepath.Dir(path)))
	}
	if err != nil {
		return fmt.Errorf("create anchor: %w: %v", ErrStorage, errors.Join(err, os.Remove(tmp)))
	}
	return nil
}

// read returns the newest head that the anchor has seen; of a nil anchor, none.
func (a *anchor) read() (record, error) {
	if a == nil {
		return record{}, nil
	}
	data, err := os.ReadFile(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, fmt.Errorf("anchor %s: %w: put it back; only an owner who knows that the ledger is the newest gives it another", a.path, ErrMissing)
	} else if err != nil {
		return record{}, fmt.Errorf("read anchor: %w: %v", ErrStorage, err)
	}
	head, _, err := a.parse(data)
	return head, err
}

// parse returns the newer of the valid lines, and which it is.
func (a *anchor) parse(data []byte) (head record, at int, err error) {
	foreign := false
	for i := range 2 {
		r, ledger, ok := a.parseLine(data, i)
		if !ok {
			continue
		}
		if ledger != a.genesis {
			foreign = true
		} else if r.seq > head.seq {
			head, at = r, i
		}
	}
	switch {
	case head.seq != 0:
		return head, at, nil
	case foreign:
		return record{}, 0, fmt.Errorf("anchor %s: %w: it belongs to another ledger", a.path, ErrTampered)
	}
	return record{}, 0, fmt.Errorf("anchor %s: %w: it cannot be read", a.path, ErrTampered)
}

func (a *anchor) parseLine(data []byte, i int) (head record, ledger digest, ok bool) {
	length := len(a.line(record{}))
	if len(data) < (i+1)*length {
		return record{}, digest{}, false
	}
	text := string(data[i*length : (i+1)*length])
	words := strings.Fields(text) // fmt.Sscanf would take most of the time that an anchor takes
	if len(words) != len(strings.Fields(anchorFormat)) {
		return record{}, digest{}, false
	}
	genesis, wrongGenesis := hex.DecodeString(words[4])
	seq, wrongSeq := strconv.ParseInt(words[6], 10, 64)
	hash, wrongHash := hex.DecodeString(words[8])
	if wrongGenesis != nil || wrongSeq != nil || wrongHash != nil || len(genesis) != sha256.Size || len(hash) != sha256.Size || seq < 1 {
		return record{}, digest{}, false
	}
	head.seq, ledger, head.hash = seq, digest(genesis), digest(hash)
	return head, ledger, text == (&anchor{genesis: ledger, chain: a.chain}).line(head)
}

// write makes head the anchor's newest, if it is newer. The caller holds the
// ledger's write lock, or the anchor has one of its own.
func (a *anchor) write(head record) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrTampered) {
			err = fmt.Errorf("write anchor: %w: %v", ErrStorage, err)
		}
	}()
	f, err := os.OpenFile(a.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if a.locked {
		if err := lock(f); err != nil {
			return err
		}
	}
	line := a.line(head)
	data := make([]byte, 2*len(line))
	n, _ := f.ReadAt(data, 0) // what is short or unreadable fails to parse
	newest, at, err := a.parse(data[:n])
	if err != nil || newest.seq >= head.seq {
		return err
	}
	if _, err := f.WriteAt([]byte(line), int64((1-at)*len(line))); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes the names in a folder durable. Windows does that by itself, and
// cannot be asked.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
