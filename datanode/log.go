package datanode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/custody"
)

// An Act is an entry of a node's history. It holds nothing private.
type Act struct {
	Time time.Time `json:"time"`
	Node string    `json:"node"`
	Name string    `json:"name"` // of the data
	// Kind is "access" when a definition is set, "unprotected" when data leave as they
	// are, "unmetered" when an answer leaves that no budget counts.
	Kind string `json:"kind"`
	// Access is the definition, By and Why the decision for it, if it needs one.
	Access string `json:"access"`
	By     string `json:"by,omitempty"`
	Why    string `json:"why,omitempty"`
	// Declared are the sensitivities on which the definition rests and for which the owner
	// vouches.
	Declared []Vouched `json:"declared,omitempty"`
}

// A Log keeps a node's history. Append returns nil only after the act is kept.
type Log interface {
	Append(ctx context.Context, a Act) error
	Acts(ctx context.Context) ([]Act, error)
}

// NewMemoryLog returns a log that ends with the process.
func NewMemoryLog() Log { return new(memoryLog) }

type memoryLog struct {
	mu   sync.Mutex
	acts []Act
}

func (l *memoryLog) Append(_ context.Context, a Act) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acts = append(l.acts, a)
	return nil
}

func (l *memoryLog) Acts(context.Context) ([]Act, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.acts), nil
}

// A FileLog keeps a history in a file, a JSON object a line, each on stable storage
// before Append returns. Unlike a ledger, it does not show edits.
type FileLog struct {
	mu   sync.Mutex
	file *os.File
}

// OpenLog opens a file to append to, and creates it if there is none.
func OpenLog(path string) (*FileLog, error) {
	f, err := custody.Append(path)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if err := dropTorn(f); err != nil {
		return nil, errors.Join(fmt.Errorf("open log: %w", err), f.Close())
	}
	return &FileLog{file: f}, nil
}

// dropTorn cuts off a last line that a crash left incomplete: its act never took effect.
func dropTorn(f *os.File) error {
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if end := bytes.LastIndexByte(text, '\n') + 1; end < len(text) {
		return f.Truncate(int64(end))
	}
	return nil
}

// Append implements Log.
func (l *FileLog) Append(_ context.Context, a Act) error {
	line, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("log act: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("log act: %w", err)
	}
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("log act: %w", err)
	}
	return nil
}

// Acts implements Log.
func (l *FileLog) Acts(context.Context) (acts []Act, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	lines := json.NewDecoder(io.NewSectionReader(l.file, 0, info.Size()))
	for {
		var a Act
		switch err := lines.Decode(&a); {
		case err == io.EOF:
			return acts, nil
		case err != nil:
			return nil, fmt.Errorf("read log: %w", err)
		}
		acts = append(acts, a)
	}
}

// Close closes the file.
func (l *FileLog) Close() error { return l.file.Close() }
