#include "least.h"
#include <stdio.h>

// The state of a unit: its least groups so far, in no order. Of each there is a code, which has the count of its rows in the
// last 8 bits. Behind all the codes that there may be are the sums of the groups' values, whose upper is absent
// where there is no value yet: no sum of less than 2^63 bigints has it.
typedef struct {
	uint32_t used;
	uint32_t greatest; // which of them, once all places are used
	uint64_t codes[];
} state;

static const int64_t absent = INT64_MIN;
static const uint64_t counted = 255; // the last 8 bits, beyond which rows are not counted

// The shape of a function stands in the pointer that DuckDB keeps with it.
typedef struct {
	uint32_t groups, values;
} shape;

static shape shape_of(duckdb_function_info info) {
	uintptr_t packed = (uintptr_t)duckdb_aggregate_function_get_extra_info(info);
	shape s = {packed >> 8, packed & 255};
	return s;
}

static inline duckdb_hugeint *sums_of(state *s, shape of, uint32_t group) {
	return (duckdb_hugeint *)(s->codes + of.groups) + group * of.values;
}

static idx_t state_size(duckdb_function_info info) {
	shape of = shape_of(info);
	return sizeof(state) + (idx_t)of.groups * (sizeof(uint64_t) + of.values * sizeof(duckdb_hugeint));
}

static void state_init(duckdb_function_info info, duckdb_aggregate_state s) {
	((state *)s)->used = ((state *)s)->greatest = 0;
}

static void find_greatest(state *s) {
	s->greatest = 0;
	for (uint32_t i = 1; i < s->used; i++)
		if (s->codes[i] > s->codes[s->greatest]) s->greatest = i;
}

enum { nowhere = UINT32_MAX };

// place returns where the group of a code is in a state, with no rows if it is new there, or nowhere if as many groups are less.
static inline uint32_t place(state *s, shape of, uint64_t code) {
	code &= ~counted;
	uint32_t i = 0;
	for (; i < s->used; i++)
		if ((s->codes[i] & ~counted) == code) return i;
	if (s->used < of.groups) {
		s->used++;
	} else if (code < s->codes[s->greatest]) {
		i = s->greatest;
	} else {
		return nowhere;
	}
	s->codes[i] = code;
	for (uint32_t j = 0; j < of.values; j++) sums_of(s, of, i)[j] = (duckdb_hugeint){0, absent};
	if (s->used == of.groups) find_greatest(s);
	return i;
}

static inline void count(uint64_t *code, uint64_t rows) {
	uint64_t room = counted - (*code & counted);
	*code += rows < room ? rows : room;
}

static inline void sum(duckdb_hugeint *to, duckdb_hugeint x) {
	if (x.upper == absent) return;
	if (to->upper == absent) to->upper = 0;
	uint64_t lower = to->lower + x.lower;
	to->upper += x.upper + (lower < x.lower);
	to->lower = lower;
}

// States lie anywhere in memory: those of a few rows to come are fetched while others are worked on.
static const idx_t ahead = 8;

static inline void fetch(const void *s, shape of) {
	uint64_t size = sizeof(state) + of.groups * (sizeof(uint64_t) + of.values * sizeof(duckdb_hugeint));
	for (uint64_t i = 0; i < size; i += 64) __builtin_prefetch((const char *)s + i, 1);
}

static void update(duckdb_function_info info, duckdb_data_chunk rows, duckdb_aggregate_state *states) {
	shape of = shape_of(info);
	idx_t n = duckdb_data_chunk_get_size(rows);
	duckdb_vector codes = duckdb_data_chunk_get_vector(rows, 0);
	uint64_t *code = duckdb_vector_get_data(codes), *valid = duckdb_vector_get_validity(codes);
	int64_t *value[LEAST_VALUES];
	uint64_t *has[LEAST_VALUES];
	for (uint32_t j = 0; j < of.values; j++) {
		duckdb_vector v = duckdb_data_chunk_get_vector(rows, 1 + j);
		value[j] = duckdb_vector_get_data(v);
		has[j] = duckdb_vector_get_validity(v);
	}
	for (idx_t i = 0; i < n; i++) {
		if (i + ahead < n) fetch(states[i + ahead], of);
		if (valid && !(valid[i / 64] >> (i % 64) & 1)) continue;
		state *s = states[i];
		uint32_t g = place(s, of, code[i]);
		if (g == nowhere) continue;
		count(&s->codes[g], 1);
		for (uint32_t j = 0; j < of.values; j++) {
			if (has[j] && !(has[j][i / 64] >> (i % 64) & 1)) continue;
			sum(&sums_of(s, of, g)[j], (duckdb_hugeint){(uint64_t)value[j][i], value[j][i] < 0 ? -1 : 0});
		}
	}
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_aggregate_state *target, idx_t n) {
	shape of = shape_of(info);
	for (idx_t i = 0; i < n; i++) {
		if (i + ahead < n) {
			fetch(source[i + ahead], of);
			fetch(target[i + ahead], of);
		}
		state *from = source[i], *to = target[i];
		for (uint32_t j = 0; j < from->used; j++) {
			uint32_t g = place(to, of, from->codes[j]);
			if (g == nowhere) continue;
			count(&to->codes[g], from->codes[j] & counted);
			for (uint32_t v = 0; v < of.values; v++) sum(&sums_of(to, of, g)[v], sums_of(from, of, j)[v]);
		}
	}
}

static void finalize(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_vector result, idx_t n, idx_t offset) {
	shape of = shape_of(info);
	idx_t end = duckdb_list_vector_get_size(result), all = end;
	for (idx_t i = 0; i < n; i++) all += ((state *)source[i])->used;
	if (duckdb_list_vector_reserve(result, all) != DuckDBSuccess || duckdb_list_vector_set_size(result, all) != DuckDBSuccess) {
		duckdb_aggregate_function_set_error(info, "groups cannot be listed");
		return;
	}
	duckdb_list_entry *lists = duckdb_vector_get_data(result);
	duckdb_vector fields = duckdb_list_vector_get_child(result);
	uint64_t *code = duckdb_vector_get_data(duckdb_struct_vector_get_child(fields, 0));
	duckdb_hugeint *value[LEAST_VALUES];
	uint64_t *has[LEAST_VALUES];
	for (uint32_t j = 0; j < of.values; j++) {
		duckdb_vector v = duckdb_struct_vector_get_child(fields, 1 + j);
		duckdb_vector_ensure_validity_writable(v);
		value[j] = duckdb_vector_get_data(v);
		has[j] = duckdb_vector_get_validity(v);
	}
	for (idx_t i = 0; i < n; i++) {
		state *s = source[i];
		lists[offset + i].offset = end;
		lists[offset + i].length = s->used;
		for (uint32_t k = 0; k < s->used; k++, end++) {
			code[end] = s->codes[k];
			for (uint32_t j = 0; j < of.values; j++) {
				uint64_t bit = (uint64_t)1 << (end % 64);
				value[j][end] = sums_of(s, of, k)[j];
				if (value[j][end].upper == absent)
					has[j][end / 64] &= ~bit;
				else
					has[j][end / 64] |= bit;
			}
		}
	}
}

int discreet_least_register(duckdb_connection connection, int groups, int values) {
	char name[64];
	snprintf(name, sizeof name, "discreet_least_%d_%d", groups, values);
	duckdb_logical_type integer = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT),
		huge = duckdb_create_logical_type(DUCKDB_TYPE_HUGEINT);
	duckdb_logical_type types[1 + LEAST_VALUES] = {integer};
	const char *names[1 + LEAST_VALUES] = {"h", "s0", "s1", "s2"};
	for (int j = 0; j < values; j++) types[1 + j] = huge;
	duckdb_logical_type fields = duckdb_create_struct_type(types, names, 1 + values), list = duckdb_create_list_type(fields);

	duckdb_aggregate_function f = duckdb_create_aggregate_function();
	duckdb_aggregate_function_set_name(f, name);
	duckdb_aggregate_function_add_parameter(f, integer);
	for (int j = 0; j < values; j++) duckdb_aggregate_function_add_parameter(f, integer);
	duckdb_aggregate_function_set_return_type(f, list);
	duckdb_aggregate_function_set_functions(f, state_size, state_init, update, combine, finalize);
	duckdb_aggregate_function_set_special_handling(f); // rows with NULL come, too
	duckdb_aggregate_function_set_extra_info(f, (void *)((uintptr_t)groups << 8 | (uintptr_t)values), 0);
	duckdb_state done = duckdb_register_aggregate_function(connection, f);

	duckdb_destroy_aggregate_function(&f);
	duckdb_destroy_logical_type(&list);
	duckdb_destroy_logical_type(&fields);
	duckdb_destroy_logical_type(&huge);
	duckdb_destroy_logical_type(&integer);
	return done == DuckDBSuccess;
}
