package noise

import "sync"

// Shared returns the bits of b, one call at a time, so that many goroutines may draw from
// them. What else draws from b itself must wait for these by other means.
func Shared(b Bits) Bits {
	if _, ok := b.(*shared); ok || b == nil {
		return b
	}
	return &shared{bits: b}
}

type shared struct {
	lock sync.Mutex
	bits Bits
}

func (s *shared) Uint64() (uint64, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.bits.Uint64()
}

func (s *shared) Words(p []uint64) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return readWords(s.bits, p)
}
