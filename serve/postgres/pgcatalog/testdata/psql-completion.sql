-- psql 15.18 tab after \d 
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \d v
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE (c.relname) LIKE 'v%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'v%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dt 
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dt v
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND (c.relname) LIKE 'v%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'v%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dt public.
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'p') AND (c.relname) LIKE '%' AND n.nspname = 'public'
LIMIT 1000
;
-- psql 15.18 tab after \dv 
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('v') AND (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dn 
SELECT nspname FROM pg_catalog.pg_namespace  WHERE nspname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \dn p
SELECT nspname FROM pg_catalog.pg_namespace  WHERE nspname LIKE 'p%'
LIMIT 1000
;
-- psql 15.18 tab after \df 
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE p.prokind != 'p' AND (p.proname) LIKE '%' AND pg_catalog.pg_function_is_visible(p.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \df pg_catalog.to
SELECT p.proname, n.nspname FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n WHERE p.pronamespace = n.oid AND p.prokind != 'p' AND (p.proname) LIKE 'to%' AND n.nspname = 'pg_catalog'
LIMIT 1000
;
-- psql 15.18 tab after \df pg_catalog.to
SELECT p.proname, n.nspname FROM pg_catalog.pg_proc p, pg_catalog.pg_namespace n WHERE p.pronamespace = n.oid AND p.prokind != 'p' AND (p.proname) LIKE 'to\_%' AND n.nspname = 'pg_catalog'
LIMIT 1000
;
-- psql 15.18 tab after \dT 
SELECT t.typname, NULL::pg_catalog.text FROM pg_catalog.pg_type t WHERE (t.typrelid = 0  OR (SELECT c.relkind = 'c'     FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) AND t.typname !~ '^_' AND (t.typname) LIKE '%' AND pg_catalog.pg_type_is_visible(t.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \du 
SELECT rolname    FROM pg_catalog.pg_roles   WHERE rolname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \ds 
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('S') AND (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dF 
SELECT c.cfgname, NULL::pg_catalog.text FROM pg_catalog.pg_ts_config c WHERE (c.cfgname) LIKE '%' AND pg_catalog.pg_ts_config_is_visible(c.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dFd 
SELECT d.dictname, NULL::pg_catalog.text FROM pg_catalog.pg_ts_dict d WHERE (d.dictname) LIKE '%' AND pg_catalog.pg_ts_dict_is_visible(d.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dFp 
SELECT p.prsname, NULL::pg_catalog.text FROM pg_catalog.pg_ts_parser p WHERE (p.prsname) LIKE '%' AND pg_catalog.pg_ts_parser_is_visible(p.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dFt 
SELECT t.tmplname, NULL::pg_catalog.text FROM pg_catalog.pg_ts_template t WHERE (t.tmplname) LIKE '%' AND pg_catalog.pg_ts_template_is_visible(t.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dA 
SELECT amname    FROM pg_catalog.pg_am   WHERE amname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \db 
SELECT spcname FROM pg_catalog.pg_tablespace  WHERE spcname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \db 
SELECT spcname FROM pg_catalog.pg_tablespace  WHERE spcname LIKE 'pg\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dx 
SELECT extname    FROM pg_catalog.pg_extension   WHERE extname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \dy 
SELECT evtname    FROM pg_catalog.pg_event_trigger   WHERE evtname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \dD 
SELECT t.typname, NULL::pg_catalog.text FROM pg_catalog.pg_type t WHERE t.typtype = 'd' AND (t.typname) LIKE '%' AND pg_catalog.pg_type_is_visible(t.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dL 
SELECT lanname   FROM pg_catalog.pg_language  WHERE lanname != 'internal'    AND lanname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \des 
SELECT srvname    FROM pg_catalog.pg_foreign_server   WHERE srvname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \dew 
SELECT fdwname    FROM pg_catalog.pg_foreign_data_wrapper   WHERE fdwname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \dX 
SELECT s.stxname, NULL::pg_catalog.text FROM pg_catalog.pg_statistic_ext s WHERE (s.stxname) LIKE '%' AND pg_catalog.pg_statistics_obj_is_visible(s.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dconfig wor
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE pg_catalog.lower(name) LIKE pg_catalog.lower('wor%')
LIMIT 1000
;
-- psql 15.18 tab after \l 
SELECT datname FROM pg_catalog.pg_database  WHERE datname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after \c d
SELECT datname FROM pg_catalog.pg_database  WHERE datname LIKE 'd%'
LIMIT 1000
;
-- psql 15.18 tab after \sf 
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE (p.proname) LIKE '%' AND pg_catalog.pg_function_is_visible(p.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \encoding 
SELECT DISTINCT pg_catalog.pg_encoding_to_char(conforencoding)    FROM pg_catalog.pg_conversion   WHERE pg_catalog.pg_encoding_to_char(conforencoding) LIKE pg_catalog.upper('%')
LIMIT 1000
;
-- psql 15.18 tab after \da 
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE p.prokind = 'a' AND (p.proname) LIKE '%' AND pg_catalog.pg_function_is_visible(p.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after SELECT * FROM public.
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE '%' AND n.nspname = 'public'
LIMIT 1000
;
-- psql 15.18 tab after SELECT * FROM visits WHERE 
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE '%' AND c.relname = 'visits' AND pg_catalog.pg_table_is_visible(c.oid)
LIMIT 1000
;
-- psql 15.18 tab after SELECT * FROM visits WHERE a
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE 'a%' AND c.relname = 'visits' AND pg_catalog.pg_table_is_visible(c.oid)
LIMIT 1000
;
-- psql 15.18 tab after SET 
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE context IN ('user', 'superuser')    AND pg_catalog.lower(name) LIKE pg_catalog.lower('%')
LIMIT 1000
;
-- psql 15.18 tab after SET dis
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE context IN ('user', 'superuser')    AND pg_catalog.lower(name) LIKE pg_catalog.lower('dis%')
LIMIT 1000
;
-- psql 15.18 tab after SET search_path TO 
SELECT nspname FROM pg_catalog.pg_namespace  WHERE nspname LIKE '%' AND nspname NOT LIKE E'pg\\_toast%' AND nspname NOT LIKE E'pg\\_temp%'
LIMIT 1000
;
-- psql 15.18 tab after SHOW 
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE pg_catalog.lower(name) LIKE pg_catalog.lower('%')
LIMIT 1000
;
-- psql 15.18 tab after DEALLOCATE 
SELECT name    FROM pg_catalog.pg_prepared_statements   WHERE name LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after FETCH FROM 
SELECT name    FROM pg_catalog.pg_cursors   WHERE name LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after CALL 
SELECT p.proname, NULL::pg_catalog.text FROM pg_catalog.pg_proc p WHERE p.prokind = 'p' AND (p.proname) LIKE '%' AND pg_catalog.pg_function_is_visible(p.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after \dS pg_cl
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE (c.relname) LIKE 'pg\_cl%' AND pg_catalog.pg_table_is_visible(c.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pg\_cl%'
LIMIT 1000
;
-- psql 15.18 tab after \dS pg_cl
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE (c.relname) LIKE 'pg\_class%' AND pg_catalog.pg_table_is_visible(c.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pg\_class%'
LIMIT 1000
;
-- psql 15.18 tab after \d samples.
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND (c.relname) LIKE '%' AND n.nspname = 'samples'
LIMIT 1000
;
-- psql 15.18 tab after ALTER SYSTEM SET 
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE context != 'internal'    AND pg_catalog.lower(name) LIKE pg_catalog.lower('%')
LIMIT 1000
;
-- psql 15.18 tab after ALTER POLICY 
SELECT polname    FROM pg_catalog.pg_policy   WHERE polname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after ALTER PUBLICATION 
SELECT pubname    FROM pg_catalog.pg_publication   WHERE pubname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after CREATE EXTENSION 
SELECT name    FROM pg_catalog.pg_available_extensions   WHERE name LIKE '%' AND installed_version IS NULL
LIMIT 1000
;
-- psql 15.18 tab after DROP TRIGGER 
SELECT tgname FROM pg_catalog.pg_trigger WHERE tgname LIKE '%' AND NOT tgisinternal
LIMIT 1000
;
-- psql 15.18 tab after DROP RULE 
SELECT rulename FROM pg_catalog.pg_rules WHERE rulename LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after DROP RULE 
SELECT rulename FROM pg_catalog.pg_rules WHERE rulename LIKE 'pg\_settings\_%'
LIMIT 1000
;
-- psql 15.18 tab after DROP COLLATION 
SELECT c.collname, NULL::pg_catalog.text FROM pg_catalog.pg_collation c WHERE c.collencoding IN (-1, pg_catalog.pg_char_to_encoding(pg_catalog.getdatabaseencoding())) AND (c.collname) LIKE '%' AND pg_catalog.pg_collation_is_visible(c.oid)
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000
;
-- psql 15.18 tab after DROP CONVERSION 
SELECT conname FROM pg_catalog.pg_conversion WHERE conname LIKE '%'
LIMIT 1000
;
-- psql 15.18 tab after DROP SUBSCRIPTION 
SELECT s.subname    FROM pg_catalog.pg_subscription s, pg_catalog.pg_database d   WHERE s.subname LIKE '%'     AND d.datname = pg_catalog.current_database()     AND s.subdbid = d.oid
LIMIT 1000
;
-- psql 15.18 tab after DROP USER MAPPING FOR 
SELECT usename    FROM pg_catalog.pg_user_mappings   WHERE usename LIKE '%'
LIMIT 1000
;
