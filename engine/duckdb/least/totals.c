#include "least.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is asked, as it stands in the first argument: L0, R, the number of groups, and then what each total is of: "n" of
// rows, R at most, "u" of units, "sJ" of units with a value J, "aJ" of values J of the R first rows, and
// "cJ:LOWER:UPPER" of their sums, clamped.
typedef struct {
	uint64_t groups, rows;
	uint32_t all, totals, values, added;
	uint32_t order[LEAST_SUMS];     // the values that are added, by which rows are chosen, too
	size_t row, rows_at, group, unit; // bytes that they take, and where a group's rows are
	struct {
		char kind;
		uint32_t value;
		__int128 lower, upper;
	} total[LEAST_TOTALS];
} question;

// A unit as far as its rows were seen. Behind it are the codes of its least groups, in no order, and then the groups.
typedef struct unit {
	struct unit *next; // of those that wait for more rows in one place
	int64_t number;
	uint64_t whole, seen; // rows
	uint64_t marks;       // a bit for each of the groups, which several share: most rows are of a group without
	uint32_t used, greatest;
	uint64_t codes[];
} unit;

// A group of a unit: the sums of all its rows, of as many values as there are. Behind them are those rows that are first so far.
typedef struct {
	uint64_t rows;
	uint32_t has, kept, last; // a bit of each value that is not always NULL; which of the rows is the last, once there are R
	__int128 sum[LEAST_SUMS];
} group;

typedef struct {
	uint64_t hash, has; // a bit of each value that is not NULL
	int64_t value[LEAST_SUMS]; // as many as there are
} row;

// The state of the query, of which each thread has its own.
typedef struct {
	question asked;
	unit *now;      // the unit of the row before, whose number is seen if it has any
	unit **waiting; // units of which rows are missing, by their numbers
	size_t places, waits;
	char *present; // whether a group has anything
	struct {
		__int128 sum;
		char some;
	} total[];
} state;

static inline group *group_of(const state *s, unit *u, uint32_t i) {
	size_t codes = (sizeof(unit) + s->asked.groups * sizeof(uint64_t) + 15) & ~(size_t)15;
	return (group *)((char *)u + codes + i * s->asked.group);
}

static inline row *row_of(const state *s, group *g, uint32_t i) { return (row *)((char *)g + s->asked.rows_at + i * s->asked.row); }

static const char *integer(const char *at, __int128 *x) {
	int minus = *at == '-';
	unsigned __int128 n = 0;
	for (at += minus; *at >= '0' && *at <= '9'; at++) n = n * 10 + (unsigned)(*at - '0');
	*x = minus ? -(__int128)n : (__int128)n;
	return at;
}

// ask reads what is asked, and reports whether it can be answered.
static int ask(question *q, const char *at, uint32_t totals, uint32_t values) {
	__int128 x[3];
	for (int i = 0; i < 3; i++) {
		at = integer(at, &x[i]);
		if (*at == ' ') at++;
	}
	if (x[0] < 1 || x[0] > 1 << 10 || x[1] < 0 || x[1] > LEAST_ROWS || x[2] < 1 || x[2] > 1 << (LEAST_CODE_BITS - LEAST_ROW_BITS)) return 0;
	*q = (question){.groups = (uint64_t)x[0], .rows = (uint64_t)x[1], .all = (uint32_t)x[2], .totals = totals, .values = values};
	for (uint32_t i = 0; i < totals; i++) {
		q->total[i].kind = *at++;
		if (q->total[i].kind != 'n' && q->total[i].kind != 'u') {
			at = integer(at, &x[0]);
			if (x[0] < 0 || x[0] >= values) return 0;
			q->total[i].value = (uint32_t)x[0];
		}
		switch (q->total[i].kind) {
		case 'c':
			if (*at++ != ':') return 0;
			at = integer(at, &q->total[i].lower);
			if (*at++ != ':') return 0;
			at = integer(at, &q->total[i].upper);
			break;
		case 'a':
			if (q->rows < 1 || q->added == LEAST_SUMS) return 0;
			q->order[q->added++] = q->total[i].value;
			break;
		case 'n':
		case 'u':
		case 's':
			break;
		default:
			return 0;
		}
		if (*at == ' ') at++;
	}
	q->row = offsetof(row, value) + values * sizeof(int64_t);
	q->rows_at = offsetof(group, sum) + values * sizeof(__int128);
	q->group = (q->rows_at + (q->added ? q->rows * q->row : 0) + 15) & ~(size_t)15;
	q->unit = ((sizeof(unit) + q->groups * sizeof(uint64_t) + 15) & ~(size_t)15) + q->groups * q->group;
	return *at == 0;
}

static state *new_state(const question *q) {
	size_t cells = (size_t)q->all * q->totals;
	state *s = calloc(1, sizeof(state) + cells * sizeof(s->total[0]));
	if (!s) return NULL;
	s->asked = *q;
	s->now = calloc(1, q->unit);
	s->present = calloc(1, q->all);
	s->waiting = calloc(s->places = 64, sizeof(unit *));
	return s;
}

static void free_state(state *s) {
	if (!s) return;
	for (size_t i = 0; s->waiting && i < s->places; i++)
		for (unit *u = s->waiting[i], *next; u; u = next) {
			next = u->next;
			free(u);
		}
	free(s->waiting);
	free(s->present);
	free(s->now);
	free(s);
}

static inline int whole(const state *s) { return s && s->now && s->present && s->waiting; }

// place is where a group is in a unit, with no rows if it is new there, or nowhere if as many groups are less: as in least.c.
enum { nowhere = UINT32_MAX };

static inline uint32_t place(const state *s, unit *u, uint64_t code) {
	if (u->used == s->asked.groups && code > u->codes[u->greatest]) return nowhere;
	uint64_t mark = (uint64_t)1 << (code >> LEAST_ROW_BITS & 63);
	uint32_t i = u->used;
	if (u->marks & mark)
		for (i = 0; i < u->used; i++)
			if (u->codes[i] == code) return i;
	u->marks |= mark;
	if (u->used < s->asked.groups)
		u->used++;
	else
		i = u->greatest;
	u->codes[i] = code;
	group *g = group_of(s, u, i);
	g->rows = 0;
	g->has = g->kept = 0;
	if (u->used == s->asked.groups) {
		uint64_t most = u->codes[0];
		uint32_t at = 0;
		for (uint32_t j = 1; j < u->used; j++) { // without branches, which nobody could foresee
			int more = u->codes[j] > most;
			most = more ? u->codes[j] : most;
			at = more ? j : at;
		}
		u->greatest = at;
	}
	return i;
}

static inline void sum(group *g, uint32_t j, __int128 x) {
	if (g->has >> j & 1)
		g->sum[j] += x;
	else
		g->sum[j] = x;
	g->has |= 1u << j;
}

// before reports whether one row comes before another: by its hash, and then by the values, NULL last.
static inline int before(const question *q, const row *a, const row *b) {
	if (a->hash != b->hash) return a->hash < b->hash;
	for (uint32_t i = 0; i < q->added; i++) {
		uint32_t j = q->order[i];
		int in_a = a->has >> j & 1, in_b = b->has >> j & 1;
		if (in_a != in_b) return in_a;
		if (in_a && a->value[j] != b->value[j]) return a->value[j] < b->value[j];
	}
	return 0;
}

// choose keeps a row if it is one of the R first.
static inline void choose(const state *s, group *g, const row *x) {
	const question *q = &s->asked;
	uint32_t at = g->kept;
	if (g->kept < q->rows)
		g->kept++;
	else if (before(q, x, row_of(s, g, g->last)))
		at = g->last;
	else
		return;
	memcpy(row_of(s, g, at), x, q->row);
	if (g->kept < q->rows) return;
	g->last = 0;
	for (uint32_t i = 1; i < g->kept; i++)
		if (before(q, row_of(s, g, g->last), row_of(s, g, i))) g->last = i;
}

// add adds what a unit contributes, all of whose rows were seen.
static void add(state *s, unit *u) {
	const question *q = &s->asked;
	for (uint32_t i = 0; i < u->used; i++) {
		uint64_t number = u->codes[i] >> LEAST_ROW_BITS & ((1u << (LEAST_CODE_BITS - LEAST_ROW_BITS)) - 1);
		group *g = group_of(s, u, i);
		s->present[number] = 1;
		for (uint32_t k = 0; k < q->totals; k++) {
			uint32_t j = q->total[k].value;
			__int128 x = 0;
			switch (q->total[k].kind) {
			case 'n':
				x = g->rows < q->rows ? g->rows : q->rows;
				break;
			case 'u':
				x = 1;
				break;
			case 's':
				if (!(g->has >> j & 1)) continue;
				x = 1;
				break;
			case 'c':
				if (!(g->has >> j & 1)) continue;
				x = g->sum[j];
				if (x < q->total[k].lower) x = q->total[k].lower;
				if (x > q->total[k].upper) x = q->total[k].upper;
				break;
			case 'a':
				for (uint32_t r = 0; r < g->kept; r++)
					if (row_of(s, g, r)->has >> j & 1) {
						x += row_of(s, g, r)->value[j];
						s->total[number * q->totals + k].some = 1;
					}
				s->total[number * q->totals + k].sum += x;
				continue;
			}
			s->total[number * q->totals + k].sum += x;
			s->total[number * q->totals + k].some = 1;
		}
	}
}

static const char no_memory[] = "there is no memory for the units", no_copy[] = "the rows are not those of a copy";

static unit **find(state *s, int64_t number) {
	unit **at = &s->waiting[(uint64_t)number * 0x9e3779b97f4a7c15u >> 32 & (s->places - 1)];
	while (*at && (*at)->number != number) at = &(*at)->next;
	return at;
}

static int grow(state *s) {
	unit **old = s->waiting;
	size_t places = s->places;
	s->waiting = calloc(s->places = 2 * places, sizeof(unit *));
	if (!s->waiting) {
		s->waiting = old, s->places = places;
		return 0;
	}
	for (size_t i = 0; i < places; i++)
		for (unit *u = old[i], *next; u; u = next) {
			next = u->next;
			unit **at = find(s, u->number);
			u->next = NULL;
			*at = u;
		}
	free(old);
	return 1;
}

// take takes what was seen of a unit, and adds it once all of its rows were. It returns what went wrong, or NULL.
static const char *take(state *s, unit *u) {
	if (u->seen == 0) return NULL;
	if (u->seen == u->whole) {
		add(s, u);
		return NULL;
	}
	unit **at = find(s, u->number);
	if (!*at) {
		if (s->waits >= s->places) {
			if (!grow(s)) return no_memory;
			at = find(s, u->number);
		}
		if (!(*at = malloc(s->asked.unit))) return no_memory;
		memcpy(*at, u, s->asked.unit);
		(*at)->next = NULL;
		s->waits++;
		return u->seen < u->whole ? NULL : no_copy;
	}
	unit *to = *at;
	if (to->whole != u->whole) return no_copy;
	to->seen += u->seen;
	for (uint32_t i = 0; i < u->used; i++) {
		uint32_t p = place(s, to, u->codes[i]);
		if (p == nowhere) continue;
		group *from = group_of(s, u, i), *g = group_of(s, to, p);
		g->rows += from->rows;
		for (uint32_t j = 0; j < s->asked.values; j++)
			if (from->has >> j & 1) sum(g, j, from->sum[j]);
		for (uint32_t r = 0; r < from->kept; r++) choose(s, g, row_of(s, from, r));
	}
	if (to->seen < to->whole) return NULL;
	if (to->seen > to->whole) return no_copy;
	add(s, to);
	*at = to->next;
	free(to);
	s->waits--;
	return NULL;
}

static uint32_t values_of(duckdb_function_info info) { return (uintptr_t)duckdb_aggregate_function_get_extra_info(info) & 255; }

static uint32_t totals_of(duckdb_function_info info) { return (uintptr_t)duckdb_aggregate_function_get_extra_info(info) >> 8; }

static idx_t state_size(duckdb_function_info info) { return sizeof(state *); }

static void state_init(duckdb_function_info info, duckdb_aggregate_state s) { *(state **)s = NULL; }

static void destroy(duckdb_aggregate_state *states, idx_t n) {
	for (idx_t i = 0; i < n; i++) {
		free_state(*(state **)states[i]);
		*(state **)states[i] = NULL;
	}
}

// A text of DuckDB's: short ones stand in it.
typedef struct {
	uint32_t length;
	char start[4];
	const char *rest;
} text;

static state *begin(duckdb_function_info info, const text *t) {
	char of[1024];
	if (t->length >= sizeof of) return NULL;
	memcpy(of, t->length <= 12 ? t->start : t->rest, t->length);
	of[t->length] = 0;
	question q;
	if (!ask(&q, of, totals_of(info), values_of(info))) return NULL;
	return new_state(&q);
}

static inline int valid(const uint64_t *bits, idx_t i) { return !bits || bits[i / 64] >> (i % 64) & 1; }

static void update(duckdb_function_info info, duckdb_data_chunk rows, duckdb_aggregate_state *states) {
	enum { asks, number, all, shown, place_of, order, hash, first };
	uint32_t values = values_of(info);
	idx_t n = duckdb_data_chunk_get_size(rows);
	void *data[first + LEAST_SUMS];
	uint64_t *has[first + LEAST_SUMS];
	for (uint32_t j = 0; j < first + values; j++) {
		duckdb_vector v = duckdb_data_chunk_get_vector(rows, j);
		data[j] = duckdb_vector_get_data(v);
		has[j] = duckdb_vector_get_validity(v);
	}
	row x = {0};
	state *s = NULL;
	const char *wrong = NULL;
	for (idx_t i = 0; i < n && !wrong; i++) {
		if (i == 0 || states[i] != states[i - 1]) {
			s = *(state **)states[i];
			if (!s) s = *(state **)states[i] = begin(info, (text *)data[asks] + i);
			if (!whole(s)) {
				wrong = no_memory;
				break;
			}
		}
		unit *u = s->now;
		int64_t of = ((int64_t *)data[number])[i], rows_of = ((int64_t *)data[all])[i];
		if (!valid(has[number], i) || !valid(has[all], i)) {
			wrong = no_copy;
			break;
		}
		if (u->number != of || u->seen == 0) {
			wrong = take(s, u);
			u->number = of;
			u->whole = (uint64_t)rows_of;
			u->seen = u->marks = u->used = 0;
		} else if (u->whole != (uint64_t)rows_of) {
			wrong = no_copy;
			break;
		}
		u->seen++;
		int32_t at = ((int32_t *)data[place_of])[i];
		if (!valid(has[shown], i) || !((uint8_t *)data[shown])[i] || !valid(has[place_of], i) || at < 0) continue;
		if ((uint32_t)at >= s->asked.all) {
			wrong = no_copy;
			break;
		}
		uint64_t c = ((uint64_t *)data[order])[i] >> (LEAST_CODE_BITS + 1) << LEAST_CODE_BITS | (uint64_t)at << LEAST_ROW_BITS;
		uint32_t p = place(s, u, c);
		if (p == nowhere) continue;
		group *g = group_of(s, u, p);
		g->rows++;
		if (!values) continue;
		x.has = 0;
		for (uint32_t j = 0; j < values; j++) {
			if (!valid(has[first + j], i)) continue;
			x.value[j] = ((int64_t *)data[first + j])[i];
			x.has |= 1u << j;
			sum(g, j, x.value[j]);
		}
		if (s->asked.added) {
			x.hash = ((uint64_t *)data[hash])[i];
			choose(s, g, &x);
		}
	}
	if (wrong) duckdb_aggregate_function_set_error(info, wrong);
}

static void combine(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_aggregate_state *target, idx_t n) {
	const char *wrong = NULL;
	for (idx_t i = 0; i < n && !wrong; i++) {
		state *from = *(state **)source[i], *to = *(state **)target[i];
		if (!from) continue;
		if (!to) to = *(state **)target[i] = new_state(&from->asked);
		if (!whole(from) || !whole(to)) {
			wrong = no_memory;
			break;
		}
		const question *q = &to->asked;
		for (uint32_t g = 0; g < q->all; g++) {
			to->present[g] |= from->present[g];
			for (uint32_t k = 0; k < q->totals; k++) {
				to->total[g * q->totals + k].sum += from->total[g * q->totals + k].sum;
				to->total[g * q->totals + k].some |= from->total[g * q->totals + k].some;
			}
		}
		wrong = take(to, from->now);
		for (size_t p = 0; p < from->places; p++)
			for (unit *u = from->waiting[p]; u && !wrong; u = u->next) wrong = take(to, u);
	}
	if (wrong) duckdb_aggregate_function_set_error(info, wrong);
}

static void finalize(duckdb_function_info info, duckdb_aggregate_state *source, duckdb_vector result, idx_t n, idx_t offset) {
	uint32_t totals = totals_of(info);
	idx_t end = duckdb_list_vector_get_size(result), all = end;
	for (idx_t i = 0; i < n; i++) {
		state *s = *(state **)source[i];
		if (!s) continue;
		const char *wrong = whole(s) ? take(s, s->now) : no_memory;
		if (!wrong) s->now->seen = 0;
		if (!wrong && s->waits > 0) wrong = no_copy; // a unit has rows that never came
		if (wrong) {
			duckdb_aggregate_function_set_error(info, wrong);
			return;
		}
		for (uint32_t g = 0; g < s->asked.all; g++) all += s->present[g];
	}
	if (duckdb_list_vector_reserve(result, all) != DuckDBSuccess || duckdb_list_vector_set_size(result, all) != DuckDBSuccess) {
		duckdb_aggregate_function_set_error(info, no_memory);
		return;
	}
	duckdb_list_entry *lists = duckdb_vector_get_data(result);
	duckdb_vector fields = duckdb_list_vector_get_child(result);
	int64_t *number = duckdb_vector_get_data(duckdb_struct_vector_get_child(fields, 0));
	duckdb_hugeint *value[LEAST_TOTALS];
	uint64_t *has[LEAST_TOTALS];
	for (uint32_t k = 0; k < totals; k++) {
		duckdb_vector v = duckdb_struct_vector_get_child(fields, 1 + k);
		duckdb_vector_ensure_validity_writable(v);
		value[k] = duckdb_vector_get_data(v);
		has[k] = duckdb_vector_get_validity(v);
	}
	for (idx_t i = 0; i < n; i++) {
		state *s = *(state **)source[i];
		lists[offset + i].offset = end;
		for (uint32_t g = 0; s && g < s->asked.all; g++) {
			if (!s->present[g]) continue;
			number[end] = g;
			for (uint32_t k = 0; k < totals; k++) {
				__int128 x = s->total[g * totals + k].sum;
				uint64_t bit = (uint64_t)1 << (end % 64);
				value[k][end] = (duckdb_hugeint){(uint64_t)x, (int64_t)(x >> 64)};
				if (s->total[g * totals + k].some)
					has[k][end / 64] |= bit;
				else
					has[k][end / 64] &= ~bit;
			}
			end++;
		}
		lists[offset + i].length = end - lists[offset + i].offset;
	}
}

int discreet_totals_register(duckdb_connection connection, int values, int totals) {
	char name[64];
	snprintf(name, sizeof name, "discreet_totals_%d_%d", values, totals);
	duckdb_logical_type varchar = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR), boolean = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN),
		number = duckdb_create_logical_type(DUCKDB_TYPE_INTEGER), integer = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT), unsigned_integer = duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT),
		huge = duckdb_create_logical_type(DUCKDB_TYPE_HUGEINT);
	duckdb_logical_type types[1 + LEAST_TOTALS] = {integer};
	char text[LEAST_TOTALS][8];
	const char *names[1 + LEAST_TOTALS] = {"g"};
	for (int k = 0; k < totals; k++) {
		snprintf(text[k], sizeof text[k], "x%d", k);
		names[1 + k] = text[k];
		types[1 + k] = huge;
	}
	duckdb_logical_type fields = duckdb_create_struct_type(types, names, 1 + totals), list = duckdb_create_list_type(fields);

	duckdb_aggregate_function f = duckdb_create_aggregate_function();
	duckdb_aggregate_function_set_name(f, name);
	duckdb_logical_type parameters[] = {varchar, integer, integer, boolean, number, unsigned_integer, unsigned_integer};
	for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) duckdb_aggregate_function_add_parameter(f, parameters[i]);
	for (int j = 0; j < values; j++) duckdb_aggregate_function_add_parameter(f, integer);
	duckdb_aggregate_function_set_return_type(f, list);
	duckdb_aggregate_function_set_functions(f, state_size, state_init, update, combine, finalize);
	duckdb_aggregate_function_set_destructor(f, destroy);
	duckdb_aggregate_function_set_special_handling(f); // rows with NULL come, too
	duckdb_aggregate_function_set_extra_info(f, (void *)((uintptr_t)totals << 8 | (uintptr_t)values), 0);
	duckdb_state done = duckdb_register_aggregate_function(connection, f);

	duckdb_destroy_aggregate_function(&f);
	duckdb_destroy_logical_type(&list);
	duckdb_destroy_logical_type(&fields);
	duckdb_destroy_logical_type(&varchar);
	duckdb_destroy_logical_type(&boolean);
	duckdb_destroy_logical_type(&number);
	duckdb_destroy_logical_type(&unsigned_integer);
	duckdb_destroy_logical_type(&huge);
	duckdb_destroy_logical_type(&integer);
	return done == DuckDBSuccess;
}
