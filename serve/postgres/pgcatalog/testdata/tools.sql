-- Grafana, the version that the data source shows
SELECT current_setting('server_version_num')::int/100 as version
;
-- Grafana, whether TimescaleDB is there
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'
;
-- Grafana, databases of the builder
SELECT datname FROM pg_database WHERE datistemplate = false
;
-- Grafana, tables of the builder
select quote_ident(table_name) as "table" from information_schema.tables where quote_ident(table_schema) not in ('information_schema', 'pg_catalog', '_timescaledb_cache', '_timescaledb_catalog', '_timescaledb_internal', '_timescaledb_config', 'timescaledb_information', 'timescaledb_experimental') and table_type = 'BASE TABLE' and quote_ident(table_schema) IN ( SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END FROM generate_series( array_lower(string_to_array(current_setting('search_path'),','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) as i, string_to_array(current_setting('search_path'),',') s) ORDER BY 1
;
-- Grafana, columns of the builder with the array of types
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns WHERE quote_ident(table_schema) IN (SELECT CASE WHEN trim(unnest) = '"$user"' THEN user ELSE trim(unnest) END FROM unnest(string_to_array(current_setting('search_path'), ','))) AND quote_ident(table_name) = 'visits' ORDER BY ordinal_position
;
-- Grafana, the time columns that older versions look for
SELECT quote_ident(column_name) FROM information_schema.columns WHERE table_name = 'visits' AND data_type IN ('timestamp without time zone', 'timestamp with time zone', 'bigint', 'integer', 'double precision', 'real') ORDER BY column_name
;
-- Grafana, older: whether a table has a time column, and which
SELECT quote_ident(table_name) as table_name, ( SELECT quote_ident(column_name) as column_name FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND udt_name IN ('timestamptz','timestamp') ORDER BY ordinal_position LIMIT 1 ) AS time_column, ( SELECT quote_ident(column_name) AS column_name FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND udt_name='float8' ORDER BY ordinal_position LIMIT 1 ) AS value_column FROM information_schema.tables t WHERE quote_ident(t.table_schema) IN ('public') AND EXISTS ( SELECT 1 FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND udt_name IN ('timestamptz','timestamp') ) AND EXISTS ( SELECT 1 FROM information_schema.columns c WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name AND udt_name='float8' ) LIMIT 1
;
-- Grafana, the metric column
SELECT quote_ident(column_name) FROM information_schema.columns WHERE quote_ident(table_name) = 'visits' AND (data_type = 'text' OR data_type = 'character' OR data_type = 'character varying' OR data_type LIKE 'char%') ORDER BY column_name
;
-- Metabase, the fields of all tables
SELECT c.column_name AS name, CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN format('%s', c.udt_name) ELSE format('"%s"."%s"', c.udt_schema, c.udt_name) END AS "database-type", c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema", c.table_name AS "table-name", pk.column_name IS NOT NULL AS "pk?", col_description(CAST(CAST(format('%I.%I', CAST(c.table_schema AS text), CAST(c.table_name AS text)) AS regclass) AS oid), c.ordinal_position) AS "field-comment", ((column_default IS NULL) OR (LOWER(column_default) = 'null')) AND (is_nullable = 'NO') AND NOT (is_identity = 'YES') AS "database-required", (is_identity = 'YES') AS "database-is-auto-increment" FROM information_schema.columns AS c LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name FROM information_schema.table_constraints AS tc INNER JOIN information_schema.key_column_usage AS kc ON tc.constraint_name = kc.constraint_name AND tc.table_schema = kc.table_schema AND tc.table_name = kc.table_name WHERE tc.constraint_type = 'PRIMARY KEY') AS pk ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name AND c.column_name = pk.column_name WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema IN ('public') ORDER BY "table-schema", "table-name", "database-position"
;
-- Metabase, the fields of materialized views
SELECT pa.attname AS name, format_type(pa.atttypid, pa.atttypmod) AS "database-type", pa.attnum - 1 AS "database-position", pn.nspname AS "table-schema", pc.relname AS "table-name", FALSE AS "pk?", NULL AS "field-comment" FROM pg_catalog.pg_class AS pc INNER JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pc.relnamespace INNER JOIN pg_catalog.pg_attribute AS pa ON pa.attrelid = pc.oid WHERE pc.relkind = 'm' AND pa.attnum >= 1 AND pn.nspname !~ '^information_schema|catalog_history|pg_' ORDER BY "table-schema", "table-name", "database-position"
;
-- Metabase, foreign keys of all tables
SELECT fk_ns.nspname AS "fk-table-schema", fk_table.relname AS "fk-table-name", fk_column.attname AS "fk-column-name", pk_ns.nspname AS "pk-table-schema", pk_table.relname AS "pk-table-name", pk_column.attname AS "pk-column-name" FROM pg_constraint AS c INNER JOIN pg_class AS fk_table ON c.conrelid = fk_table.oid INNER JOIN pg_namespace AS fk_ns ON c.connamespace = fk_ns.oid INNER JOIN pg_attribute AS fk_column ON c.conrelid = fk_column.attrelid INNER JOIN pg_class AS pk_table ON c.confrelid = pk_table.oid INNER JOIN pg_namespace AS pk_ns ON pk_table.relnamespace = pk_ns.oid INNER JOIN pg_attribute AS pk_column ON c.confrelid = pk_column.attrelid WHERE fk_ns.nspname !~ '^information_schema|catalog_history|pg_' AND c.contype = 'f'::"char" AND fk_column.attnum = ANY(c.conkey) AND pk_column.attnum = ANY(c.confkey) ORDER BY "fk-table-schema", "fk-table-name"
;
-- Metabase, indexes of all tables
SELECT tmp.table_schema AS "table-schema", tmp.table_name AS "table-name", trim(BOTH '"' FROM pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.pos, false)) AS "field-name" FROM (SELECT n.nspname AS table_schema, ct.relname AS table_name, ci.oid AS ci_oid, (information_schema._pg_expandarray(i.indkey)).n AS pos FROM pg_catalog.pg_class AS ct INNER JOIN pg_catalog.pg_namespace AS n ON ct.relnamespace = n.oid INNER JOIN pg_catalog.pg_index AS i ON ct.oid = i.indrelid INNER JOIN pg_catalog.pg_class AS ci ON ci.oid = i.indexrelid WHERE pg_catalog.pg_get_expr(i.indpred, i.indrelid) IS NULL AND n.nspname !~ '^information_schema|catalog_history|pg_') AS tmp WHERE tmp.pos = 1
;
-- Metabase, types that are enumerations
SELECT nspname, typname FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT DISTINCT enumtypid FROM pg_enum)
;
-- Metabase, the zone's offset
SELECT current_setting('TIMEZONE') AS tz, extract(timezone FROM now())::int AS off
;
-- Metabase, whether the account may read a table
SELECT TRUE AS "_" FROM "pg_catalog"."pg_class" WHERE 1 <> 1 LIMIT 0
;
-- Metabase, what the connection is
SELECT current_database() AS db, current_schema() AS schema, current_user AS role, pg_backend_pid() IS NOT NULL AS pid
;
-- DBeaver, the settings of a session
SELECT setting FROM pg_catalog.pg_settings WHERE name = 'server_version_num'
;
-- DBeaver, what a session looks at first
SELECT db.oid, pg_catalog.pg_encoding_to_char(db.encoding) AS encoding, db.datname, db.datallowconn, db.datistemplate, db.datconnlimit FROM pg_catalog.pg_database db ORDER BY db.datname
;
-- DBeaver, tables of a schema
SELECT c.oid, c.relname, c.relkind, c.relnamespace, c.relowner, c.relhasindex, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relnamespace = 'public'::regnamespace AND c.relkind NOT IN ('i', 'I', 'c') ORDER BY c.relname
;
-- DBeaver, columns of a table
SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid) LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum) LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid) LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid WHERE NOT a.attisdropped AND c.relkind NOT IN ('i', 'I', 'c') AND c.oid = 'visits'::regclass ORDER BY a.attnum
;
-- DBeaver, rules, triggers, policies and inheritance of a table
SELECT x.oid, x.tgname, p.pronamespace AS func_schema_id, x.tgenabled FROM pg_catalog.pg_trigger x LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = x.tgfoid WHERE x.tgrelid = 'visits'::regclass AND NOT x.tgisinternal
;
-- DBeaver, inheritance
SELECT i.*, c.relnamespace FROM pg_catalog.pg_inherits i, pg_catalog.pg_class c WHERE i.inhrelid = 'visits'::regclass AND c.oid = i.inhparent ORDER BY i.inhseqno
;
-- DBeaver, policies
SELECT pol.*, pg_catalog.pg_get_expr(pol.polqual, pol.polrelid) AS expr FROM pg_catalog.pg_policy pol WHERE pol.polrelid = 'visits'::regclass
;
-- DBeaver, roles
SELECT a.oid, a.rolname, a.rolsuper, a.rolcanlogin FROM pg_catalog.pg_roles a ORDER BY a.rolname
;
-- DBeaver, sequences of a schema
SELECT c.oid, c.relname, s.seqstart FROM pg_catalog.pg_class c JOIN pg_catalog.pg_sequence s ON s.seqrelid = c.oid WHERE c.relkind = 'S'
;
-- DBeaver, functions of a schema
SELECT p.oid, p.proname, p.prokind, p.prorettype FROM pg_catalog.pg_proc p LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid WHERE p.pronamespace = 'public'::regnamespace
;
-- DBeaver, extensions and foreign servers
SELECT e.oid, e.extname, n.nspname AS schema_name FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace ORDER BY e.oid
;
-- DBeaver, foreign data wrappers
SELECT l.oid, p.pronamespace AS handler_schema_id FROM pg_catalog.pg_foreign_data_wrapper l LEFT OUTER JOIN pg_catalog.pg_proc p ON p.oid = l.fdwhandler ORDER BY l.fdwname
;
-- DBeaver, sessions
SELECT sa.pid, sa.usename, sa.state FROM pg_catalog.pg_stat_activity sa WHERE false
;
-- DBeaver, locks
SELECT blocked_locks.pid AS waiting_pid FROM pg_catalog.pg_locks AS blocked_locks JOIN pg_catalog.pg_locks AS other ON other.locktype = blocked_locks.locktype AND other.pid <> blocked_locks.pid WHERE NOT blocked_locks.granted
;
-- DBeaver, privileges of a table
SELECT grantee, table_schema, table_name, privilege_type FROM information_schema.table_privileges WHERE table_catalog = current_database() AND grantee = 'nobody'
;
-- DBeaver, comments and extents of access
SELECT * FROM information_schema.column_privileges WHERE table_catalog = 'discreet' AND grantee = 'nobody'
;
-- DBeaver, event triggers
SELECT * FROM pg_catalog.pg_event_trigger
;
-- DBeaver, languages and access methods
SELECT am.oid, am.amname FROM pg_catalog.pg_am am ORDER BY am.oid
;
-- DBeaver, collations and encodings
SELECT c.oid, c.collname FROM pg_catalog.pg_collation c WHERE c.collname = 'C' ORDER BY c.oid
;
-- DBeaver, casts and operators by type
SELECT count(*) > 0 AS any FROM pg_catalog.pg_cast WHERE castsource = 'int4'::regtype
;
-- Tableau, the tables that a connection shows
SELECT t.table_schema, t.table_name, t.table_type FROM information_schema.tables t WHERE t.table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2
;
-- Power BI, what Npgsql loads first
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM ( SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind, elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind, CASE WHEN elemproc.proname = 'array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype, typ.typcategory FROM ( SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype, CASE WHEN proc.proname = 'array_recv' THEN typ.typelem WHEN typ.typtype = 'r' THEN rngsubtype WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid) WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemtypoid, typ.typcategory FROM pg_type AS typ LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid) LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid) ) AS typ LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid) LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive ) AS t JOIN pg_namespace AS ns ON (ns.oid = typnamespace) WHERE ( typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind = 'c') OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR (elemtyptype = 'p' AND elemtypname IN ('record', 'void')) OR (elemtyptype = 'c' AND elemrelkind = 'c'))) ) ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 WHEN typtype = 'c' THEN 1 WHEN typtype = 'r' THEN 2 WHEN typtype = 'm' THEN 3 WHEN typtype = 'd' AND elemtyptype <> 'a' THEN 4 WHEN typtype = 'a' THEN 5 WHEN typtype = 'd' AND elemtyptype = 'a' THEN 6 END, t.oid
;
-- Superset, the views and tables that SQLAlchemy's inspector asks beside its own
SELECT relname, relkind, pg_catalog.pg_table_is_visible(oid) AS seen FROM pg_catalog.pg_class WHERE relkind = ANY (ARRAY['v', 'm']) AND relnamespace = 'public'::regnamespace ORDER BY relname
;
-- dbt, the relations of a schema
select current_database() as database, tablename as name, schemaname as schema, 'table' as type from pg_tables where schemaname ilike 'public' union all select current_database() as database, viewname as name, schemaname as schema, 'view' as type from pg_views where schemaname ilike 'public' order by name
;
-- dbt, schemas
select distinct nspname from pg_namespace order by nspname
;
-- Looker, the keys
SELECT kcu.table_name, kcu.column_name, ccu.table_name AS foreign_table, ccu.column_name AS foreign_column FROM information_schema.table_constraints tc JOIN information_schema.key_column_usage kcu ON tc.constraint_name = kcu.constraint_name JOIN information_schema.constraint_column_usage ccu ON ccu.constraint_name = tc.constraint_name WHERE tc.constraint_type = 'FOREIGN KEY'
;
-- Hasura and others, one document of all columns
SELECT json_agg(row_to_json(t)) FROM (SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'departments' ORDER BY ordinal_position) t
;
-- DBeaver and others, fields of a time
SELECT extract(epoch FROM timestamp '2026-01-02 03:04:05')::bigint AS e, extract(year FROM date '2026-01-02') AS y, date_part('dow', timestamp '2026-01-02 03:04:05') AS d, extract(doy FROM date '2026-02-02')::int AS n, extract(minute FROM timestamp '2026-01-02 03:04:05')::int AS m
;
