package places

import "sync"

// Room is what results may take together, in bytes, at all doors that share it. Holders are
// what holds results (a session, a request), of accounts.
//
// An account holds no more than is left for the others, so that one alone has half of it, and
// of several each has less; a first result needs no more than that there is room. Accounts that
// hold much, however many they are and though they work together, leave an eighth: that is for
// accounts that hold little, in all their sessions together, a 64th of the eighth at most. So a
// small answer finds room until 64 accounts hold as much as is small.
//
// A holder is asked about what it will hold, and says what it holds when it is less.
type Room struct {
	most, small, spare int64

	mu       sync.Mutex
	total    int64
	accounts map[string]int64
	holders  map[any]int64
}

// NewRoom returns room for so many bytes.
func NewRoom(most int64) *Room {
	return &Room{most: most, spare: most / 8, small: most / 8 / 64, accounts: map[string]int64{}, holders: map[any]int64{}}
}

// Take gives a holder of an account room for so many bytes in all, if there is. A holder is a
// pointer.
func (r *Room) Take(holder any, account string, bytes int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	more := bytes - r.holders[holder]
	if more > 0 && !r.has(r.accounts[account], more) {
		return false
	}
	r.set(holder, account, bytes)
	return true
}

// has reports whether an account that holds its own finds room for more. The lock is held.
func (r *Room) has(own, more int64) bool {
	left := r.most - r.total - more
	if own+more <= r.small {
		return left >= 0
	}
	return left >= r.spare && (own == 0 || own+more <= left)
}

// Keep says that a holder holds no more than so many bytes now.
func (r *Room) Keep(holder any, account string, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set(holder, account, min(bytes, r.holders[holder]))
}

// Held is how many bytes are held.
func (r *Room) Held() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// set is under the lock.
func (r *Room) set(holder any, account string, bytes int64) {
	more := bytes - r.holders[holder]
	if r.total, r.accounts[account], r.holders[holder] = r.total+more, r.accounts[account]+more, bytes; bytes == 0 {
		delete(r.holders, holder)
	}
	if r.accounts[account] == 0 {
		delete(r.accounts, account)
	}
}
