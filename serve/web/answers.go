package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A kept answer is one that a session may look at again and download, without asking again.
type kept struct {
	statement
	id     string
	answer *discreet.Answer
	size   int
}

// How much is kept: of a session the newest answers, and of all sessions together at most
// so many bytes. What is dropped is asked again for free.
const (
	answersOfSession = 8
	bytesOfSession   = 8 << 20
	bytesOfAll       = 256 << 20
	bytesOfAnswer    = 32 << 20
)

// keep keeps an answer, and returns its name in the session.
func (s *sessions) keep(one *session, f statement, a *discreet.Answer) (id string, err error) {
	text, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("keep answer: %w", err)
	}
	if len(text) > bytesOfAnswer {
		return "", &problem.Problem{Status: 413, Code: "D210", Message: fmt.Sprintf("the answer has %d MiB, which is too much for a page", len(text)>>20),
			Why: "it was paid for, and is kept in the ledger", Hint: "send the same statement with a program or psql: the answer is there for free"}
	}
	if id, err = random(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(one.ids) == 0 { // it has ended in the meantime
		return id, nil
	}
	one.answers = append(one.answers, &kept{statement: f, id: id, answer: a, size: len(text)})
	s.held += len(text)
	for size := sum(one.answers); len(one.answers) > answersOfSession || len(one.answers) > 1 && size > bytesOfSession; {
		size -= s.drop(one)
	}
	for s.held > bytesOfAll { // whoever keeps most makes room
		most := one
		for _, other := range s.byID {
			if sum(other.answers) > sum(most.answers) {
				most = other
			}
		}
		s.drop(most)
	}
	return id, nil
}

func sum(all []*kept) (bytes int) {
	for _, k := range all {
		bytes += k.size
	}
	return bytes
}

// drop drops the oldest answer of a session. The lock is held.
func (s *sessions) drop(one *session) (bytes int) {
	bytes = one.answers[0].size
	s.held -= bytes
	one.answers[0] = nil
	one.answers = one.answers[1:]
	return bytes
}

// kept returns an answer of a session, or nil.
func (s *sessions) kept(one *session, id string) *kept {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range one.answers {
		if k.id == id {
			return k
		}
	}
	return nil
}

// key names what one form asks: the form's own nonce with all that it says.
func (f *statement) key() string {
	text, err := json.Marshal(f)
	if err != nil {
		panic("web: encode form: " + err.Error()) // texts and a truth
	}
	sum := sha256.Sum256(text)
	return "web-" + base64.RawURLEncoding.EncodeToString(sum[:])
}
