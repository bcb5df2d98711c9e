// What a mapper in C shares with the sandbox. docs/sandbox.md explains it.
#ifndef DISCREET_H
#define DISCREET_H

#include <stdint.h>

// A value of a record: which member holds it depends on the column's type.
typedef struct {
	union {
		int64_t integer; // also booleans, days, microseconds
		double number;   // also decimals
		struct {
			uint32_t offset, length; // of a text, from the start of the input
		} text;
	};
	uint32_t present; // 0 for NULL
	uint32_t unused;
} discreet_cell;

typedef struct {
	double value;
	uint32_t key; // an index into the declared keys
	uint32_t unused;
} discreet_output;

// DISCREET_BUFFERS declares discreet_input of so many bytes and discreet_out of so
// many outputs, and tells the sandbox where they are.
#define DISCREET_BUFFERS(bytes, outputs)                                           \
	static _Alignas(8) uint8_t discreet_input[bytes];                          \
	static discreet_output discreet_out[outputs];                              \
	__attribute__((export_name("discreet_buffers"))) uint32_t *discreet_buffers(void) \
	{                                                                          \
		static uint32_t places[4];                                         \
		places[0] = (uint32_t)discreet_input;                              \
		places[1] = bytes;                                                 \
		places[2] = (uint32_t)discreet_out;                                \
		places[3] = outputs;                                               \
		return places;                                                     \
	}

// A mapper defines this: it makes outputs of the records and returns their number.
__attribute__((export_name("discreet_map"))) int32_t discreet_map(int32_t records);

#endif
