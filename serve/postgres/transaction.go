package postgres

import "slices"

// A transaction is what BEGIN opens, or, implicitly, a series of messages up to Sync and a
// simple query of several statements. It can be rolled back as far as settings go: questions
// that were answered stay answered and paid.
type transaction struct {
	open   bool // by BEGIN
	failed bool
	begun  *settings // as they were; nil before anything has run
	points []savepoint
}

type savepoint struct {
	name     string
	settings settings
}

// status is the byte of ReadyForQuery.
func (t *transaction) status() byte {
	switch {
	case !t.open:
		return 'I'
	case t.failed:
		return 'E'
	}
	return 'T'
}

// touch begins an implicit transaction, unless there is one.
func (t *transaction) touch(s *settings) {
	if t.begun == nil {
		c := s.clone()
		t.begun = &c
	}
}

// broken notes a failure. Outside BEGIN it takes back at once what the series has set.
func (t *transaction) broken(s *settings) {
	if t.open {
		t.failed = true
		return
	}
	t.rollback(s)
}

func (t *transaction) commit(s *settings) {
	s.local = nil
	*t = transaction{}
}

func (t *transaction) rollback(s *settings) {
	if t.begun != nil {
		*s = *t.begun
	}
	s.local = nil
	*t = transaction{}
}

// point returns the index of the youngest savepoint of a name, or -1.
func (t *transaction) point(name string) int {
	for i, p := range slices.Backward(t.points) {
		if p.name == name {
			return i
		}
	}
	return -1
}
