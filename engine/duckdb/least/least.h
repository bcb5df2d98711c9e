// What is used of DuckDB's C interface, whose header other modules do not see: these are its
// declarations, and the driver links its functions.

#include <stdint.h>

typedef uint64_t idx_t;
typedef struct { uint64_t lower; int64_t upper; } duckdb_hugeint;
typedef struct { uint64_t offset, length; } duckdb_list_entry;
typedef enum { DuckDBSuccess = 0, DuckDBError = 1 } duckdb_state;
enum { DUCKDB_TYPE_BOOLEAN = 1, DUCKDB_TYPE_INTEGER = 4, DUCKDB_TYPE_BIGINT = 5, DUCKDB_TYPE_UBIGINT = 9, DUCKDB_TYPE_HUGEINT = 16, DUCKDB_TYPE_VARCHAR = 17 };

typedef void *duckdb_connection, *duckdb_aggregate_function, *duckdb_aggregate_state, *duckdb_logical_type, *duckdb_function_info,
    *duckdb_data_chunk, *duckdb_vector;

typedef idx_t (*duckdb_aggregate_state_size)(duckdb_function_info);
typedef void (*duckdb_aggregate_init_t)(duckdb_function_info, duckdb_aggregate_state);
typedef void (*duckdb_aggregate_update_t)(duckdb_function_info, duckdb_data_chunk, duckdb_aggregate_state *);
typedef void (*duckdb_aggregate_combine_t)(duckdb_function_info, duckdb_aggregate_state *source, duckdb_aggregate_state *target, idx_t);
typedef void (*duckdb_aggregate_finalize_t)(duckdb_function_info, duckdb_aggregate_state *, duckdb_vector, idx_t count, idx_t offset);
typedef void (*duckdb_aggregate_destroy_t)(duckdb_aggregate_state *, idx_t);

duckdb_aggregate_function duckdb_create_aggregate_function(void);
void duckdb_destroy_aggregate_function(duckdb_aggregate_function *);
void duckdb_aggregate_function_set_name(duckdb_aggregate_function, const char *);
void duckdb_aggregate_function_add_parameter(duckdb_aggregate_function, duckdb_logical_type);
void duckdb_aggregate_function_set_return_type(duckdb_aggregate_function, duckdb_logical_type);
void duckdb_aggregate_function_set_functions(duckdb_aggregate_function, duckdb_aggregate_state_size, duckdb_aggregate_init_t,
    duckdb_aggregate_update_t, duckdb_aggregate_combine_t, duckdb_aggregate_finalize_t);
void duckdb_aggregate_function_set_destructor(duckdb_aggregate_function, duckdb_aggregate_destroy_t);
void duckdb_aggregate_function_set_special_handling(duckdb_aggregate_function);
void duckdb_aggregate_function_set_extra_info(duckdb_aggregate_function, void *, void (*)(void *));
void *duckdb_aggregate_function_get_extra_info(duckdb_function_info);
void duckdb_aggregate_function_set_error(duckdb_function_info, const char *);
duckdb_state duckdb_register_aggregate_function(duckdb_connection, duckdb_aggregate_function);

duckdb_logical_type duckdb_create_logical_type(int);
duckdb_logical_type duckdb_create_list_type(duckdb_logical_type);
duckdb_logical_type duckdb_create_struct_type(duckdb_logical_type *, const char **, idx_t);
void duckdb_destroy_logical_type(duckdb_logical_type *);

idx_t duckdb_data_chunk_get_size(duckdb_data_chunk);
duckdb_vector duckdb_data_chunk_get_vector(duckdb_data_chunk, idx_t);
void *duckdb_vector_get_data(duckdb_vector);
uint64_t *duckdb_vector_get_validity(duckdb_vector);
void duckdb_vector_ensure_validity_writable(duckdb_vector);
duckdb_vector duckdb_list_vector_get_child(duckdb_vector);
idx_t duckdb_list_vector_get_size(duckdb_vector);
duckdb_state duckdb_list_vector_set_size(duckdb_vector, idx_t);
duckdb_state duckdb_list_vector_reserve(duckdb_vector, idx_t);
duckdb_vector duckdb_struct_vector_get_child(duckdb_vector, idx_t);

enum {
	LEAST_VALUES = 3,
	LEAST_SUMS = 10,      // values at most, where totals are asked
	LEAST_TOTALS = 12,
	LEAST_ROWS = 1024,    // R at most, where totals are asked
	LEAST_ROW_BITS = 8,   // the last ones of a code, which are ignored
	LEAST_CODE_BITS = 24, // behind the hash: the number of the group, and these
};

// discreet_least_register makes the function known to the connection's instance.
int discreet_least_register(duckdb_connection, int groups, int values);

// discreet_totals_register makes the function of totals known, of so many values and so many totals.
int discreet_totals_register(duckdb_connection, int values, int totals);
