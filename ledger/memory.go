package ledger

import "maps"

// A memory is what the writer knows of the records up to the last head that it has seen, so that
// it reads none of them again while it writes alone. It is a function of those records: each
// transaction asks under the write lock whether any other connection has written into the file
// since, were it to edit a record, and forgets all if so (see checkHead). What a transaction has
// appended is remembered after it is durable, and not before. A nil memory knows nothing.
type memory struct {
	version int64             // of the store, in which it holds; 0: in none
	states  map[string]*state // of domains, after their last records; never changed
	open    map[int64]pending // reservations without an answer, by their records
}

// maxRemembered bounds what is remembered of each kind: reservations whose answers never come
// stay for ever.
const maxRemembered = 4096

// pending is a reservation whose answer may come.
type pending struct {
	domain     string
	repetition []byte // the key of its commit; see repetition
	answered   bool   // within this batch
}

// at reports whether what is known holds in a version of the file.
func (m *memory) at(version int64) bool { return m != nil && m.version != 0 && m.version == version }

func (m *memory) state(domain string) *state {
	if m == nil {
		return nil
	}
	return m.states[domain]
}

// pending returns what is known of a reservation; not ok is unknown, not answered.
func (m *memory) pending(id int64) (p pending, ok bool) {
	if m == nil {
		return p, false
	}
	p, ok = m.open[id]
	return p, ok
}

func (m *memory) forget() {
	if m != nil {
		*m = memory{}
	}
}

// remember adds what a batch has found and appended, once that is durable. The last head that
// was seen is the batch's from then on.
func (m *memory) remember(b *batch) {
	m.version = b.version
	if len(m.states) > maxRemembered || m.states == nil {
		m.states = map[string]*state{}
	}
	if len(m.open) > maxRemembered || m.open == nil {
		m.open = map[int64]pending{}
	}
	maps.Copy(m.states, b.states)
	for id, p := range b.open {
		if p.answered {
			delete(m.open, id)
		} else {
			m.open[id] = p
		}
	}
}
