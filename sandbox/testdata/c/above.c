// What is dearer than it was told: of a record (age, cost, and a number for each age group) one
// output, 1, under the key of the group if the cost is above that group's number.
#include "discreet.h"

DISCREET_BUFFERS(1024, 1)

int32_t discreet_map(int32_t records)
{
	const discreet_cell *cells = (const discreet_cell *)discreet_input;
	if (records != 1 || !cells[0].present || !cells[1].present)
		return 0;
	int64_t group = cells[0].integer / 25;
	discreet_out[0].key = group > 3 ? 3 : (uint32_t)group;
	discreet_out[0].value = 1;
	return cells[1].number > cells[2 + discreet_out[0].key].number;
}
