//go:build cgo

package rest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/discreet-dp/discreet/serve/internal/gatewaytest"
	"github.com/discreet-dp/discreet/serve/places"
	"github.com/discreet-dp/discreet/serve/rest"
)

// TestAnswersShareTheRoomOfAllDoors: while other doors hold all that there is, an answer waits
// for room; it was charged once, is free when it is asked again, and holds nothing when it was sent.
func TestAnswersShareTheRoomOfAllDoors(t *testing.T) {
	g := gatewaytest.New(t)
	room, other := places.NewRoom(1<<20), new(int)
	d := &door{rest.New(rest.Options{Gateway: g, SignIn: signIn, Room: room}), readDocument(t), nil}
	if !room.Take(other, "other", 1<<20*7/8) {
		t.Fatal("no room")
	}
	for i := range 64 { // and what is spared for small answers
		room.Take(new(int), string(rune('A'+i)), 1<<20/512)
	}
	statement := asked{path: "/v1/query", body: body(t, "sql", grouped, "rho", "0.01")}
	r, text := d.ask(t, statement)
	var p problem
	if err := json.Unmarshal(text, &p); err != nil || r.StatusCode != http.StatusServiceUnavailable || p.Code != "D221" || r.Header.Get("Retry-After") == "" {
		t.Errorf("without room: %d %s (%v)", r.StatusCode, text, err)
	}
	room.Keep(other, "other", 0)
	held := room.Held()
	var a struct{ Reused bool }
	r, text = d.ask(t, statement)
	if err := json.Unmarshal(text, &a); err != nil || r.StatusCode != http.StatusOK || !a.Reused {
		t.Errorf("with room: %d %s (%v)", r.StatusCode, text, err)
	}
	if now := room.Held(); now != held {
		t.Errorf("%d bytes are held after it was sent, %d before", now, held)
	}
}
