package failure

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/cli/terminal"
	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A screen tells when the first thing is written to it.
type screen struct {
	mu      sync.Mutex
	text    strings.Builder
	written chan struct{}
	once    sync.Once
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.once.Do(func() { close(s.written) })
	return s.text.Write(p)
}

// People see that something long is under way, and nothing of it when it ends.
func TestBusy(t *testing.T) {
	s := &screen{written: make(chan struct{})}
	done := (&terminal.Terminal{Err: s, People: true}).Busy(context.Background(), "answering")
	<-s.written
	done()
	done()
	if got := s.text.String(); !strings.Contains(got, " answering 1s") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("wrote %q", got)
	}
}

// What is quick, and what nobody watches, is silent.
func TestBusySilent(t *testing.T) {
	for _, people := range []bool{true, false} {
		s := &screen{written: make(chan struct{})}
		(&terminal.Terminal{Err: s, People: people}).Busy(context.Background(), "answering")()
		if s.text.Len() > 0 {
			t.Errorf("people %v: wrote %q", people, s.text.String())
		}
	}
}

func TestColour(t *testing.T) {
	d := diagnosed(diagnostic.New("D110", diagnostic.Span{}, "there is no command"))
	for colour, want := range map[bool]string{
		true:  "\x1b[1;31merror[D110]\x1b[0m: there is no command\n  more: discreet help D110\n",
		false: "error[D110]: there is no command\n  more: discreet help D110\n",
	} {
		var b strings.Builder
		writeDiagnostic(&terminal.Terminal{Err: &b, Colour: colour}, d)
		if got := b.String(); got != want {
			t.Errorf("colour %v: %q", colour, got)
		}
	}
}
