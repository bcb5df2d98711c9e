package sqltype

// Size is about how many bytes a value takes in memory.
func Size(v Value) int64 {
	const word = 16 // an interface
	switch v := v.(type) {
	case string:
		return word + int64(len(v))
	case Decimal:
		if v.Unscaled != nil {
			return word + 32 + int64(v.Unscaled.BitLen()/8)
		}
	}
	return word + 8
}
