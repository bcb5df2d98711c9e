package noise

import "github.com/discreet-dp/discreet/internal/entropy"

// System returns the bits of the operating system's cryptographic generator, each
// bit once. It is safe for concurrent use; one for each goroutine avoids waiting.
func System() Bits { return entropy.New() }
