package postgres

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// A registry knows the sessions, so that another connection can cancel what one is running.
type registry struct {
	mu  sync.Mutex
	all map[uint32]*running
}

// A running session can be cancelled by who knows its number and its key.
type running struct {
	number uint32
	key    []byte

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the statement that runs; nil between statements
}

func newRegistry() *registry { return &registry{all: map[uint32]*running{}} }

// add gives a session a number and a secret key: of 32 bytes, and of 4 for clients of
// protocol 3.0, which know no others.
func (r *registry) add(e *entropy.Source, version uint32) (*running, error) {
	words := make([]byte, 0, 40)
	for range 5 {
		word, err := e.Uint64()
		if err != nil {
			return nil, fmt.Errorf("draw key: %w", err)
		}
		words = binary.BigEndian.AppendUint64(words, word)
	}
	s := &running{number: binary.BigEndian.Uint32(words) >> 1, key: words[8:]}
	if version == pgproto3.ProtocolVersion30 {
		s.key = s.key[:4]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.all[s.number] != nil || s.number == 0 {
		s.number = (s.number + 1) & (1<<31 - 1)
	}
	r.all[s.number] = s
	return s, nil
}

func (r *registry) remove(s *running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, s.number)
}

// cancel ends the statement of the session with this number and key, and reports whether there
// is such a session.
func (r *registry) cancel(number uint32, key []byte) bool {
	s := r.of(number)
	if s == nil || subtle.ConstantTimeCompare(s.key, key) != 1 {
		return false
	}
	s.stop(errCancelled)
	return true
}

func (r *registry) of(number uint32) *running {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[number]
}

// cancelWord asks the servers beside this one to cancel. It has a digest in place of the key, so
// that who hears it and guesses at a short key has, at most, what the client has asked for.
const cancelWord = "cancel %d %x"

func cancelling(number uint32, key []byte) string {
	return fmt.Sprintf(cancelWord, number, sha256.Sum256(append(binary.BigEndian.AppendUint32([]byte("cancel"), number), key...)))
}

// heard does what another server asks for.
func (r *registry) heard(word string) {
	var number uint32
	var digest []byte
	if _, err := fmt.Sscanf(word, cancelWord, &number, &digest); err != nil {
		return // of a later version
	}
	if s := r.of(number); s != nil && subtle.ConstantTimeCompare([]byte(cancelling(number, s.key)), []byte(word)) == 1 {
		s.stop(errCancelled)
	}
}

// stop ends the statement that runs, for a cause.
func (s *running) stop(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(cause)
	}
}

// statement returns the context of one statement, and what ends it.
func (s *running) statement(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	s.mu.Lock()
	s.cancel = cancel
	s.mu.Unlock()
	return ctx, func() {
		s.mu.Lock()
		s.cancel = nil
		s.mu.Unlock()
		cancel(nil)
	}
}
