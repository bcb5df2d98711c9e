package web

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	discreet "github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/problem"
	"github.com/discreet-dp/discreet/sqltype"
)

// wide is an answer that takes about so many MiB, of which its JSON has a fraction.
func wide(mib int) *discreet.Answer {
	a := &discreet.Answer{Columns: []discreet.Column{{Name: "n"}}}
	for range mib << 20 / 48 {
		a.Rows = append(a.Rows, []sqltype.Value{int64(1)})
	}
	return a
}

// TestAnswersAreShared: answers are counted as the memory that they take. An account that keeps
// many in many sessions drops its own, the oldest first, and costs nobody else one.
func TestAnswersAreShared(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := newSessions(func() time.Time { return now }, time.Hour, time.Hour, nil)
	begin := func(name string) *session {
		t.Helper()
		id, err := s.begin(people.Account{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return s.find(id)
	}
	keep := func(one *session, a *discreet.Answer) string {
		t.Helper()
		id, err := s.keep(one, statement{SQL: "SELECT 1"}, a)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if _, err := s.keep(begin("carl"), statement{}, wide(33)); err == nil || !strings.Contains(err.Error(), "33 MiB") {
		t.Errorf("an answer that is too large is kept: %v", err)
	}
	if _, err := s.keep(begin("carl"), statement{SQL: strings.Repeat("x", 33<<20)}, wide(0)); err == nil {
		t.Error("a statement that is too large is kept")
	}
	few := begin("bert")
	his := keep(few, wide(4))
	large := wide(20)
	var ids []string
	var of []*session
	for range 18 {
		one := begin("anna")
		of, ids = append(of, one), append(ids, keep(one, large))
		if s.of["anna"] > bytesOfAccount || s.held > bytesOfAll {
			t.Fatalf("anna holds %d bytes, all %d", s.of["anna"], s.held)
		}
	}
	for i, id := range ids {
		if kept := s.kept(of[i], id) != nil; kept != (i >= 15) {
			t.Errorf("answer %d of 18 is kept: %v", i, kept)
		}
	}
	for i := range 10 { // all together are more than is kept of all
		one := begin(fmt.Sprint("d", i))
		keep(one, large)
		keep(begin(fmt.Sprint("d", i)), large)
		if s.held > bytesOfAll {
			t.Fatalf("%d bytes are held", s.held)
		}
	}
	if s.kept(few, his) == nil {
		t.Error("who keeps little made room")
	}
	for one := range s.all() {
		s.end(one)
	}
	if s.held != 0 || len(s.of) != 0 {
		t.Errorf("when all sessions have ended, %d bytes are held, of %v", s.held, s.of)
	}
}

// all are the sessions that there are.
func (s *sessions) all() map[*session]bool {
	all := map[*session]bool{}
	for _, one := range s.byID {
		all[one] = true
	}
	return all
}

// TestAnswersShareTheRoomOfAllDoors: where other doors hold much, pages keep less: an account's
// older answers make room, and one for which there is none is refused, as free to ask again.
func TestAnswersShareTheRoomOfAllDoors(t *testing.T) {
	room := places.NewRoom(64 << 20)
	s := newSessions(func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }, time.Hour, time.Hour, room)
	id, err := s.begin(people.Account{Name: "anna"})
	if err != nil {
		t.Fatal(err)
	}
	one := s.find(id)
	if !room.Take(new(int), "other", 24<<20) { // at another door
		t.Fatal("no room")
	}
	first, err := s.keep(one, statement{}, wide(6))
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.keep(one, statement{}, wide(30))
	if err != nil {
		t.Fatal(err)
	}
	if s.kept(one, first) != nil || s.kept(one, second) == nil || room.Held() != 24<<20+s.held {
		t.Errorf("%d bytes are held, of pages %d", room.Held(), s.held)
	}
	room.Take(new(int), "third", 2<<20)
	var p *problem.Problem
	if _, err := s.keep(one, statement{}, wide(31)); !errors.As(err, &p) || p.Code != "D221" || p.Status != 503 {
		t.Errorf("an answer without room: %v", err)
	}
	s.end(one)
	if room.Held() != 26<<20 {
		t.Errorf("%d bytes are held at the end", room.Held())
	}
}
