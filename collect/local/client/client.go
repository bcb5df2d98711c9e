// Package client answers questions for one respondent, under a budget of the respondent's own.
//
// It guarantees that a question is charged before its answer leaves; that the same question, from
// any asker, has the same answer for good, and is charged once, whatever crashes; that one which is
// asked in each of several epochs is charged for all with the first, and has one answer in each;
// and that each answer is recorded, with its asker, before it leaves.
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
	stored, again, err := once(ctx, c.options.Answers, key, budget.Release{Statement: statement, Events: []privacy.Event{q.Event}}, func() ([]byte, error) {
		text, err := report(noise.NewStream(c.options.Bits))
		if err != nil {
			return nil, err
		}
		return json.Marshal(Answer{Report: text})
	})
	if err != nil {
		return nil, err
	}
	a := &Answer{Again: again}
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

// A Repetition is how a question is answered that is asked again and again.
type Repetition struct {
	// Begin draws what is for good of a respondent, without the answer.
	Begin func(*noise.Stream) ([]byte, error)
	// Memoise randomizes the answer of an epoch for good, given what Begin has drawn.
	Memoise func(bits *noise.Stream, begun []byte) ([]byte, error)
	// Tell makes a report from what Memoise has drawn, and from nothing else.
	Tell func(bits *noise.Stream, memo []byte) (string, error)
}

// Repeat answers an epoch of a question that is asked again and again. The question's event is
// that of all epochs; it is charged before anything of the answer is drawn. An epoch's memo is
// drawn once, whoever asks and whatever crashes: of two that draw at once, the first memo is
// stored and told of by both. An asker is told the same throughout an epoch.
func (c *Client) Repeat(ctx context.Context, asker string, q Question, epoch int, r Repetition) (*Answer, error) {
	if asker == "" || q.Text == "" || q.Form == "" || q.Event == nil || epoch < 0 {
		return nil, errors.New("local client: the asker, the question, its form, its event or the epoch is missing")
	}
	bits := noise.NewStream(c.options.Bits)
	of, statement := digest(q.Text, q.Form), q.Text+" ("+q.Form+")"
	begun, again, err := once(ctx, c.options.Answers, "enrolment "+of, budget.Release{Statement: statement, Events: []privacy.Event{q.Event}},
		func() ([]byte, error) { return r.Begin(bits) })
	if err != nil {
		return nil, err
	}
	memo, _, err := once(ctx, c.options.Answers, fmt.Sprintf("epoch %s %d", of, epoch), budget.Release{Statement: fmt.Sprintf("epoch %d: %s", epoch, statement)},
		func() ([]byte, error) { return r.Memoise(bits, begun) })
	if err != nil {
		return nil, err
	}
	tell := func() ([]byte, error) {
		text, err := r.Tell(bits, memo)
		if err != nil {
			return nil, err
		}
		return json.Marshal(Answer{Report: text})
	}
	var stored []byte
	if c.options.Tellings == nil {
		stored, err = tell()
	} else {
		var book Book
		if book, err = c.options.Tellings(asker); err != nil {
			return nil, err
		}
		stored, _, err = once(ctx, book, fmt.Sprintf("told %s %d", digest(asker, of), epoch), budget.Release{Statement: fmt.Sprintf("told in epoch %d: %s", epoch, statement)}, tell)
	}
	if err != nil {
		return nil, err
	}
	a := &Answer{Again: again}
	if err := json.Unmarshal(stored, a); err != nil {
		return nil, fmt.Errorf("read the stored answer: %w", err)
	}
	return a, nil
}

// once returns what a book has under a key, or draws it, stores it and charges for it. Of two
// that do so at once, both return what was stored first.
func once(ctx context.Context, book Book, key string, charge budget.Release, draw func() ([]byte, error)) (value []byte, again bool, err error) {
	if value, err = book.Registered(ctx, key, charge.Statement); err != nil || value != nil {
		return value, true, err
	}
	if value, err = draw(); err != nil {
		return nil, false, err
	}
	value, err = book.Register(ctx, key, charge, value)
	return value, false, err
}

// digest is that of texts, which no other texts have.
func digest(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		fmt.Fprintf(h, "%d %s", len(t), t)
	}
	return hex.EncodeToString(h.Sum(nil))
}
