package web

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A kept answer is one that a session may look at again and download, without asking again.
type kept struct {
	statement
	id     string
	answer *discreet.Answer
	size   int64
	number int64 // of all that were kept: the least is the oldest
}

// How much memory answers take: of a session the newest, of an account in all its sessions,
// and of all together at most so many bytes. What is dropped is asked again for free.
const (
	answersOfSession = 8
	bytesOfSession   = 8 << 20
	bytesOfAccount   = 64 << 20
	bytesOfAll       = 256 << 20
	bytesOfAnswer    = 32 << 20
)

// keep keeps an answer, and returns its name in the session.
func (s *sessions) keep(one *session, f statement, a *discreet.Answer) (id string, err error) {
	size := gateway.Size(a) + int64(len(f.SQL)+len(a.Statement))
	if size > bytesOfAnswer {
		return "", &problem.Problem{Status: 413, Code: "D210", Message: fmt.Sprintf("the answer takes %d MiB, which is too much for a page", size>>20),
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
	for !s.room.Take(one, one.account.Name, sum(one.answers)+size) { // an account's older answers make room
		if s.of[one.account.Name] == 0 {
			return "", &problem.Problem{Status: http.StatusServiceUnavailable, Code: "D221", Message: "the answers that are held at all doors, or your account's, take too many bytes",
				Why: "the owner bounds what they take together, of which each account has a share; what was charged is stored", Hint: "close what holds others, or wait, and ask again: it is free", After: time.Second}
		}
		s.makeRoom(one.account.Name)
	}
	s.ever++
	one.answers = append(one.answers, &kept{statement: f, id: id, answer: a, size: size, number: s.ever})
	s.hold(one, size)
	for len(one.answers) > answersOfSession || len(one.answers) > 1 && sum(one.answers) > bytesOfSession {
		s.drop(one)
	}
	for s.of[one.account.Name] > bytesOfAccount {
		s.makeRoom(one.account.Name)
	}
	for s.held > bytesOfAll { // whoever keeps most makes room
		most := one.account.Name
		for name, bytes := range s.of {
			if bytes > s.of[most] {
				most = name
			}
		}
		s.makeRoom(most)
	}
	return id, nil
}

// hold counts bytes of a session. The lock is held.
func (s *sessions) hold(one *session, bytes int64) {
	name := one.account.Name
	s.held += bytes
	if s.of[name] += bytes; s.of[name] == 0 {
		delete(s.of, name)
	}
}

func sum(all []*kept) (bytes int64) {
	for _, k := range all {
		bytes += k.size
	}
	return bytes
}

// makeRoom drops the oldest answer of an account that keeps some. The lock is held.
func (s *sessions) makeRoom(account string) {
	var of *session
	for _, one := range s.byID {
		if one.account.Name == account && len(one.answers) > 0 && (of == nil || one.answers[0].number < of.answers[0].number) {
			of = one
		}
	}
	s.drop(of)
}

// drop drops the oldest answer of a session. The lock is held.
func (s *sessions) drop(one *session) {
	s.hold(one, -one.answers[0].size)
	one.answers = slices.Delete(one.answers, 0, 1)
	s.room.Keep(one, one.account.Name, sum(one.answers))
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
