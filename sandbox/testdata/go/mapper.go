//go:build wasip1

// Costs by age group: of a record (age, cost) one output, the cost, under the key of
// the group 0..24, 25..49, 50..74 or 75.. that the age is in.
package main

import "unsafe"

type cell struct {
	value   uint64 // an int64, the bits of a float64, or a text's offset and length
	present uint32
	_       uint32
}

type output struct {
	value float64
	key   uint32
	_     uint32
}

var (
	input  [4096]cell
	out    [1]output
	places = [4]uint32{
		uint32(uintptr(unsafe.Pointer(&input))), uint32(unsafe.Sizeof(input)),
		uint32(uintptr(unsafe.Pointer(&out))), uint32(len(out)),
	}
)

//go:wasmexport discreet_buffers
func buffers() unsafe.Pointer { return unsafe.Pointer(&places) }

//go:wasmexport discreet_map
func mapRecords(records int32) int32 {
	age, cost := input[0], input[1]
	if records != 1 || age.present == 0 || cost.present == 0 {
		return 0
	}
	group := min(int64(age.value)/25, 3)
	out[0] = output{value: *(*float64)(unsafe.Pointer(&cost.value)), key: uint32(group)}
	return 1
}

func main() {}
