package pgcatalog

// views are the relations of the system catalog that are views, as queries over the others:
// those that clients ask. Their columns' types are PostgreSQL's; a column that is not named here
// is NULL. The others are empty.
var views = map[string]string{
	"pg_catalog.pg_roles": `SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolconnlimit,
		'********' AS rolpassword, rolvaliduntil, rolbypassrls, NULL::text[] AS rolconfig, oid FROM pg_authid`,
	"pg_catalog.pg_user": `SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper AS usesuper, rolreplication AS userepl,
		rolbypassrls AS usebypassrls, '********' AS passwd, rolvaliduntil AS valuntil FROM pg_authid WHERE rolcanlogin`,
	"pg_catalog.pg_shadow": `SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper AS usesuper, rolreplication AS userepl,
		rolbypassrls AS usebypassrls, rolvaliduntil AS valuntil FROM pg_authid WHERE rolcanlogin`,
	"pg_catalog.pg_group": `SELECT rolname AS groname, oid AS grosysid, ARRAY(SELECT member FROM pg_auth_members WHERE roleid = r.oid) AS grolist
		FROM pg_authid r WHERE NOT rolcanlogin`,
	"pg_catalog.pg_tables": `SELECT n.nspname AS schemaname, c.relname AS tablename, pg_get_userbyid(c.relowner) AS tableowner, t.spcname AS tablespace,
		c.relhasindex AS hasindexes, c.relhasrules AS hasrules, c.relhastriggers AS hastriggers, c.relrowsecurity AS rowsecurity
		FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
		WHERE c.relkind IN ('r', 'p')`,
	"pg_catalog.pg_views": `SELECT n.nspname AS schemaname, c.relname AS viewname, pg_get_userbyid(c.relowner) AS viewowner, pg_get_viewdef(c.oid) AS definition
		FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v'`,
	"pg_catalog.pg_indexes": `SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname, t.spcname AS tablespace, pg_get_indexdef(i.oid) AS indexdef
		FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
		LEFT JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = i.reltablespace
		WHERE c.relkind IN ('r', 'm', 'p') AND i.relkind IN ('i', 'I')`,

	"pg_catalog.pg_stat_all_tables":    tablesWhere + `true`,
	"pg_catalog.pg_stat_user_tables":   tablesWhere + userOnly,
	"pg_catalog.pg_stat_sys_tables":    tablesWhere + `NOT (` + userOnly + `)`,
	"pg_catalog.pg_statio_all_tables":  tablesWhere + `true`,
	"pg_catalog.pg_statio_user_tables": tablesWhere + userOnly,
	"pg_catalog.pg_statio_sys_tables":  tablesWhere + `NOT (` + userOnly + `)`,

	"information_schema.information_schema_catalog_name": `SELECT current_database() AS catalog_name`,
	"information_schema.schemata":                        `SELECT current_database() AS catalog_name, nspname AS schema_name, pg_get_userbyid(nspowner) AS schema_owner FROM pg_namespace`,
	"information_schema.enabled_roles":                   `SELECT rolname AS role_name FROM pg_authid WHERE pg_has_role(oid, 'USAGE')`,
	"information_schema.tables": `SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
		CASE WHEN c.relkind IN ('r', 'p') THEN 'BASE TABLE' WHEN c.relkind = 'v' THEN 'VIEW' WHEN c.relkind = 'f' THEN 'FOREIGN' END AS table_type,
		CASE WHEN c.relkind IN ('r', 'p') THEN 'YES' ELSE 'NO' END AS is_insertable_into, 'NO' AS is_typed
		FROM pg_namespace n JOIN pg_class c ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'f', 'p')`,
	"information_schema.views": `SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, pg_get_viewdef(c.oid) AS view_definition,
		'NONE' AS check_option, 'NO' AS is_updatable, 'NO' AS is_insertable_into, 'NO' AS is_trigger_updatable, 'NO' AS is_trigger_deletable,
		'NO' AS is_trigger_insertable_into
		FROM pg_namespace n JOIN pg_class c ON n.oid = c.relnamespace WHERE c.relkind = 'v'`,
	"information_schema.columns": `SELECT current_database() AS table_catalog, nc.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name,
		a.attnum AS ordinal_position, CASE WHEN a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) THEN 'NO' ELSE 'YES' END AS is_nullable,
		CASE WHEN t.typtype = 'd' THEN CASE WHEN bt.typelem <> 0 AND bt.typlen = -1 THEN 'ARRAY' WHEN nbt.nspname = 'pg_catalog' THEN format_type(t.typbasetype, NULL)
				ELSE 'USER-DEFINED' END
			WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN nt.nspname = 'pg_catalog' THEN format_type(a.atttypid, NULL) ELSE 'USER-DEFINED' END AS data_type,
		information_schema._pg_char_max_length(information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) AS character_maximum_length,
		information_schema._pg_char_octet_length(information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) AS character_octet_length,
		information_schema._pg_numeric_precision(information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) AS numeric_precision,
		information_schema._pg_numeric_precision_radix(information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) AS numeric_precision_radix,
		information_schema._pg_numeric_scale(information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) AS numeric_scale,
		information_schema._pg_datetime_precision(information_schema._pg_truetypid(a, t), information_schema._pg_truetypmod(a, t)) AS datetime_precision,
		CASE WHEN nco.nspname IS NOT NULL THEN current_database() END AS collation_catalog, nco.nspname AS collation_schema, co.collname AS collation_name,
		CASE WHEN t.typtype = 'd' THEN current_database() END AS domain_catalog, CASE WHEN t.typtype = 'd' THEN nt.nspname END AS domain_schema,
		CASE WHEN t.typtype = 'd' THEN t.typname END AS domain_name, current_database() AS udt_catalog, coalesce(nbt.nspname, nt.nspname) AS udt_schema,
		coalesce(bt.typname, t.typname) AS udt_name, a.attnum AS dtd_identifier, 'NO' AS is_self_referencing, 'NO' AS is_identity, 'NO' AS identity_cycle,
		'NEVER' AS is_generated, CASE WHEN c.relkind IN ('r', 'p') THEN 'YES' ELSE 'NO' END AS is_updatable
		FROM pg_attribute a JOIN pg_class c ON a.attrelid = c.oid JOIN pg_namespace nc ON c.relnamespace = nc.oid JOIN pg_type t ON a.atttypid = t.oid
		JOIN pg_namespace nt ON t.typnamespace = nt.oid
		LEFT JOIN (pg_type bt JOIN pg_namespace nbt ON bt.typnamespace = nbt.oid) ON t.typtype = 'd' AND t.typbasetype = bt.oid
		LEFT JOIN (pg_collation co JOIN pg_namespace nco ON co.collnamespace = nco.oid)
			ON a.attcollation = co.oid AND (nco.nspname <> 'pg_catalog' OR co.collname <> 'default')
		WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')`,
	"information_schema.table_constraints": `SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
		current_database() AS table_catalog, nr.nspname AS table_schema, r.relname AS table_name,
		CASE k.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' END AS constraint_type,
		CASE WHEN k.condeferrable THEN 'YES' ELSE 'NO' END AS is_deferrable, CASE WHEN k.condeferred THEN 'YES' ELSE 'NO' END AS initially_deferred, 'YES' AS enforced,
		CASE WHEN k.contype = 'u' THEN 'YES' END AS nulls_distinct
		FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace JOIN pg_class r ON r.oid = k.conrelid JOIN pg_namespace nr ON nr.oid = r.relnamespace
		WHERE k.contype IN ('c', 'f', 'p', 'u') AND r.relkind IN ('r', 'p')
		UNION ALL
		SELECT current_database(), nr.nspname, concat(nr.oid, '_', r.oid, '_', a.attnum, '_not_null'), current_database(), nr.nspname, r.relname, 'CHECK', 'NO', 'NO', 'YES', NULL
		FROM pg_attribute a JOIN pg_class r ON r.oid = a.attrelid JOIN pg_namespace nr ON nr.oid = r.relnamespace
		WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND r.relkind IN ('r', 'p')`,
	"information_schema.key_column_usage": `SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
		current_database() AS table_catalog, nr.nspname AS table_schema, k.relname AS table_name, a.attname AS column_name, (k.part).n AS ordinal_position,
		CASE WHEN k.contype = 'f' THEN information_schema._pg_index_position(k.conindid, k.confkey[(k.part).n]) END AS position_in_unique_constraint
		FROM (SELECT c.conname, c.contype, c.connamespace, c.conindid, c.confkey, r.oid AS relid, r.relname, r.relnamespace, information_schema._pg_expandarray(c.conkey) AS part
			FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid WHERE c.contype IN ('p', 'u', 'f') AND r.relkind IN ('r', 'p')) k
		JOIN pg_namespace n ON n.oid = k.connamespace JOIN pg_namespace nr ON nr.oid = k.relnamespace
		JOIN pg_attribute a ON a.attrelid = k.relid AND a.attnum = (k.part).x`,
	"information_schema.referential_constraints": `SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
		CASE WHEN nu.nspname IS NOT NULL THEN current_database() END AS unique_constraint_catalog, nu.nspname AS unique_constraint_schema, u.conname AS unique_constraint_name,
		CASE k.confmatchtype WHEN 'f' THEN 'FULL' WHEN 'p' THEN 'PARTIAL' WHEN 's' THEN 'NONE' END AS match_option,
		CASE k.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO ACTION' END AS update_rule,
		CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' WHEN 'r' THEN 'RESTRICT' WHEN 'a' THEN 'NO ACTION' END AS delete_rule
		FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
		LEFT JOIN (pg_constraint u JOIN pg_namespace nu ON nu.oid = u.connamespace) ON u.conindid = k.conindid AND u.contype IN ('p', 'u') WHERE k.contype = 'f'`,
	"information_schema.constraint_column_usage": `SELECT current_database() AS table_catalog, nr.nspname AS table_schema, r.relname AS table_name, a.attname AS column_name,
		current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name
		FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
		JOIN pg_class r ON r.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END JOIN pg_namespace nr ON nr.oid = r.relnamespace
		JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum = ANY (CASE k.contype WHEN 'f' THEN k.confkey ELSE k.conkey END)
		WHERE k.contype IN ('p', 'u', 'f') AND r.relkind IN ('r', 'p') AND NOT a.attisdropped`,
	"information_schema.constraint_table_usage": `SELECT DISTINCT current_database() AS table_catalog, nr.nspname AS table_schema, r.relname AS table_name,
		current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name
		FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
		JOIN pg_class r ON r.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END JOIN pg_namespace nr ON nr.oid = r.relnamespace
		WHERE k.contype IN ('p', 'u', 'f') AND r.relkind IN ('r', 'p')`,
	"information_schema.table_privileges": `SELECT pg_get_userbyid(c.relowner) AS grantor, pg_get_userbyid(c.relowner) AS grantee, current_database() AS table_catalog,
		n.nspname AS table_schema, c.relname AS table_name, 'SELECT' AS privilege_type, 'NO' AS is_grantable, 'YES' AS with_hierarchy
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'f', 'p')`,
	"information_schema.role_table_grants": `SELECT grantor, grantee, table_catalog, table_schema, table_name, privilege_type, is_grantable, with_hierarchy
		FROM information_schema.table_privileges`,
	"information_schema.column_privileges": `SELECT pg_get_userbyid(c.relowner) AS grantor, pg_get_userbyid(c.relowner) AS grantee, current_database() AS table_catalog,
		n.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name, 'SELECT' AS privilege_type, 'NO' AS is_grantable
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relkind IN ('r', 'v', 'f', 'p') AND a.attnum > 0 AND NOT a.attisdropped`,
	"information_schema.character_sets": `SELECT 'UTF8' AS character_set_name, 'UCS' AS character_repertoire, 'UTF8' AS form_of_use, current_database() AS default_collate_catalog,
		'pg_catalog' AS default_collate_schema, 'C.UTF-8' AS default_collate_name`,
	"information_schema.collations": `SELECT current_database() AS collation_catalog, n.nspname AS collation_schema, c.collname AS collation_name, 'NO PAD' AS pad_attribute
		FROM pg_collation c JOIN pg_namespace n ON n.oid = c.collnamespace WHERE c.collencoding IN (-1, 6)`,
}

// The views of statistics name the tables, and count nothing.
const (
	tablesWhere = `SELECT c.oid AS relid, n.nspname AS schemaname, c.relname FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 't', 'm', 'p') AND `
	userOnly = `n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_toast'`
)
