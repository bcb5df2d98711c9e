package rest

import (
	"context"
	"net/http"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/problem"
)

// A sending request holds the answers that it was given until its client has them.
type sending struct {
	room    *places.Room
	account string
	copies  int64 // of each answer, that are in memory at once
	bytes   int64
}

// copiesOfAgents: an agent's answer is there as values, as the text that rest wrote of them, and
// in the message, twice.
const copiesOfAgents = 4

// hold makes room for an answer, or refuses it: it was stored if it was charged.
func (s *sending) hold(a *discreet.Answer) error {
	if s.room == nil {
		return nil
	}
	bytes := s.bytes + s.copies*gateway.Size(a)
	if !s.room.Take(s, s.account, bytes) {
		return &problem.Problem{Status: http.StatusServiceUnavailable, Code: "D221", Message: "the answers that are held at all doors, or your account's, take too many bytes",
			Why:   "the owner bounds what they take together, of which each account has a share; what was charged is stored",
			Hint:  `end what holds others, or wait, and send the same request again, without "fresh": a statement that was answered before costs nothing`,
			After: time.Second}
	}
	s.bytes = bytes
	return nil
}

func (s *sending) end() {
	if s.room != nil {
		s.room.Keep(s, s.account, 0)
	}
}

// sendingOf is what a request's answers count for: what holds it, where it is made within
// another, or itself. Who calls it calls end.
func (h *handler) sendingOf(ctx context.Context) (s *sending, end func()) {
	if s, ok := ctx.Value(sending{}).(*sending); ok {
		return s, func() {}
	}
	s = &sending{room: h.Room, account: Who(ctx).Account.Name, copies: 1}
	return s, s.end
}
