package postgres

import "sync"

// room is what the results of all sessions may take together, in bytes. An account holds no
// more than is left for the others, so that one alone has half of it, and of several each has
// less, but room is left for who comes; a first result needs no more than that there is room.
//
// A session is asked about what it will hold, and says what it holds whenever a client may
// speak again: results that were sent and are not kept make room by then.
type room struct {
	most int64

	mu       sync.Mutex
	total    int64
	accounts map[string]int64
	sessions map[*session]int64
}

func newRoom(most int64) *room {
	return &room{most: most, accounts: map[string]int64{}, sessions: map[*session]int64{}}
}

// take gives a session of an account room for so many bytes in all, if there is.
func (r *room) take(s *session, account string, bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	more := bytes - r.sessions[s]
	left := r.most - r.total - more
	if own := r.accounts[account]; more > 0 && (left < 0 || own > 0 && own+more > left) {
		return false
	}
	r.set(s, account, bytes)
	return true
}

// keep says that a session holds no more than so many bytes now.
func (r *room) keep(s *session, account string, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(s, account, min(bytes, r.sessions[s]))
}

// set is under the lock.
func (r *room) set(s *session, account string, bytes int64) {
	more := bytes - r.sessions[s]
	if r.total, r.accounts[account], r.sessions[s] = r.total+more, r.accounts[account]+more, bytes; bytes == 0 {
		delete(r.sessions, s)
	}
	if r.accounts[account] == 0 {
		delete(r.accounts, account)
	}
}
