package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// A conversation is an agent's input and output, in lines. The library ends at the end of
// the input and drops what it has not answered by then; so the end is told when every
// request has its answer: a statement that was charged is not lost by who closes early.
type conversation struct {
	lines *bufio.Reader
	out   io.Writer
	rest  []byte // of the line that is being read

	mu       sync.Mutex
	answered *sync.Cond
	open     int  // requests without an answer
	closed   bool // by the library: nothing will be answered
}

func newConversation(in io.Reader, out io.Writer) *conversation {
	c := &conversation{lines: bufio.NewReader(in), out: out}
	c.answered = sync.NewCond(&c.mu)
	return c
}

// count tells requests and answers by their forms: both have an id, one has a method.
func (c *conversation) count(line []byte, request bool) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(line, &m) != nil || m.ID == nil || (m.Method != "") != request {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if request {
		c.open++
		return
	}
	c.open--
	c.answered.Broadcast()
}

func (c *conversation) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		line, err := c.lines.ReadBytes('\n')
		if len(line) == 0 {
			c.wait()
			return 0, err
		}
		c.count(line, true)
		c.rest = line
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *conversation) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.open > 0 && !c.closed {
		c.answered.Wait()
	}
}

func (c *conversation) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	for line := range bytes.Lines(p) {
		c.count(line, false)
	}
	return n, err
}

func (c *conversation) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.answered.Broadcast()
	return nil
}
