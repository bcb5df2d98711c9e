// Costs by age group: of a record (age, cost) one output, the cost, under the key of
// the group 0..24, 25..49, 50..74 or 75.. that the age is in.
#include "discreet.h"

DISCREET_BUFFERS(1024, 1)

int32_t discreet_map(int32_t records)
{
	const discreet_cell *cells = (const discreet_cell *)discreet_input;
	if (records != 1 || !cells[0].present || !cells[1].present)
		return 0;
	int64_t group = cells[0].integer / 25;
	discreet_out[0].key = group > 3 ? 3 : (uint32_t)group;
	discreet_out[0].value = cells[1].number;
	return 1;
}
