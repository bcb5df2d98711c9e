// Package client answers questions for one respondent, under a budget of the respondent's own.
//
// It guarantees that a question is charged before its answer leaves; that the same question, from
// any asker, has the same answer for good, and is charged once, whatever crashes; and that each
// answer is recorded, with its asker, before it leaves.
//
// It does not guarantee that different questions are about different things: each is charged,
// and their reports add up as the budget says. It does not guarantee that askers are who they
// say.
package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

// A Book stores a value under a key and charges for it, both or neither; the first value stays.
// A domain of a ledger is one, by package budget/durable.
type Book interface {
	Register(ctx context.Context, key string, r budget.Release, value []byte) ([]byte, error)
	Registered(ctx context.Context, key, statement string) ([]byte, error)
}

// Options say where answers are kept.
type Options struct {
	// Answers is the register of answers. It must be the same, with the same analyst, for all
	// askers. Required.
	Answers Book
	// Tellings returns the book of what an asker was told, which costs nothing; nil for none.
	Tellings func(asker string) (Book, error)
	// Bits are those of the randomizers. Required.
	Bits noise.Bits
}

// A Question is what is asked, and how.
type Question struct {
	// Text is the question in words, and Form what else decides what a report means: the
	// protocol, its epsilon, its values. Questions are the same if both are. Required.
	Text, Form string
	// Event is what a report reveals. Required.
	Event privacy.Event
}

// A Client answers for one respondent. It is safe for concurrent use if its books and bits are.
type Client struct{ options Options }

// New returns a client.
func New(o Options) (*Client, error) {
	if o.Answers == nil || o.Bits == nil {
		return nil, errors.New("local client: the book of answers or the bits are missing")
	}
	return &Client{o}, nil
}

// An Answer is what an asker is told.
type Answer struct {
	Report string `json:"report"`
	// Again says that the question had this answer before, so that it cost nothing.
	Again bool `json:"-"`
}

// Answer answers a question by the randomizer report, which is called for a new question alone.
// A new question that the budget does not admit is refused with its error, and is not answered.
func (c *Client) Answer(ctx context.Context, asker string, q Question, report func(*noise.Stream) (string, error)) (*Answer, error) {
	if asker == "" || q.Text == "" || q.Form == "" || q.Event == nil {
		return nil, errors.New("local client: the asker, the question, its form or its event is missing")
	}
	key := "answer " + digest(q.Text, q.Form)
	statement := q.Text + " (" + q.Form + ")"
	stored, err := c.options.Answers.Registered(ctx, key, statement)
	if err != nil {
		return nil, err
	}
	a := &Answer{Again: stored != nil}
	if stored == nil {
		text, err := report(noise.NewStream(c.options.Bits))
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(Answer{Report: text})
		if err != nil {
			return nil, err
		}
		// Of two that ask at once, the first answer is stored, and charged, and told to both.
		if stored, err = c.options.Answers.Register(ctx, key, budget.Release{Statement: statement, Events: []privacy.Event{q.Event}}, value); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(stored, a); err != nil {
		return nil, fmt.Errorf("read the stored answer: %w", err)
	}
	if c.options.Tellings == nil {
		return a, nil
	}
	book, err := c.options.Tellings(asker)
	if err != nil {
		return nil, err
	}
	if _, err := book.Register(ctx, "told "+digest(asker, key), budget.Release{Statement: "told: " + statement}, stored); err != nil {
		return nil, err
	}
	return a, nil
}

// digest is that of texts, which no other texts have.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d %s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
