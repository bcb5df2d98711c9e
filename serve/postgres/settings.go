package postgres

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/privacy"
)

// serverVersion is the PostgreSQL whose behaviour clients may expect.
const serverVersion = "15.18 (Discreet)"

// settings are what SET changes, in three layers: for the transaction, for the session, and
// as the client started it. Names are in lower case.
type settings struct{ local, session, start map[string]string }

func newSettings() settings { return settings{start: map[string]string{}} }

func (s settings) clone() settings {
	return settings{maps.Clone(s.local), maps.Clone(s.session), s.start}
}

// maxSettings bounds the names that a session invents, maxValue their values.
const (
	maxSettings = 200
	maxValue    = 4096
)

// A parameter is a setting that this server knows.
type parameter struct {
	name    string // as it is shown
	initial string
	// check returns the value as it is kept. Without it a setting takes any text and means
	// nothing here: clients set it for PostgreSQL's sake.
	check func(value string) (string, *failure)
	about string
}

// reported are told to the client when they change.
var reported = []string{
	"server_version", "server_encoding", "client_encoding", "application_name", "default_transaction_read_only", "in_hot_standby",
	"is_superuser", "session_authorization", "DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes", "standard_conforming_strings",
}

var parameters = index([]parameter{
	{name: "server_version", initial: serverVersion, check: fixed("server_version"), about: "the PostgreSQL that clients may expect"},
	{name: "server_version_num", initial: "150018", check: fixed("server_version_num")},
	{name: "server_encoding", initial: "UTF8", check: fixed("server_encoding")},
	{name: "integer_datetimes", initial: "on", check: fixed("integer_datetimes")},
	{name: "is_superuser", initial: "off", check: fixed("is_superuser")},
	{name: "in_hot_standby", initial: "off", check: fixed("in_hot_standby")},
	{name: "session_authorization", check: identity("session_authorization")},
	{name: "role", initial: "none", check: identity("role")},
	{name: "max_index_keys", initial: "32", check: fixed("max_index_keys")},
	{name: "max_identifier_length", initial: "63", check: fixed("max_identifier_length")},
	{name: "block_size", initial: "8192", check: fixed("block_size")},
	{name: "ssl", initial: "off", check: fixed("ssl")},
	{name: "lc_collate", initial: "C", check: fixed("lc_collate")},
	{name: "lc_ctype", initial: "C", check: fixed("lc_ctype")},
	{name: "lc_messages", initial: "C"}, {name: "lc_monetary", initial: "C"}, {name: "lc_numeric", initial: "C"}, {name: "lc_time", initial: "C"},

	{name: "client_encoding", initial: "UTF8", check: encoding, about: "texts are in UTF-8"},
	{name: "standard_conforming_strings", initial: "on", check: only("standard_conforming_strings", "on", "on", "true", "yes", "1")},
	{name: "DateStyle", initial: "ISO, MDY", check: dateStyle, about: "dates are written as ISO 8601 has them"},
	{name: "IntervalStyle", initial: "postgres", check: only("IntervalStyle", "postgres", "postgres")},
	{name: "bytea_output", initial: "hex"},
	{name: "TimeZone", initial: "UTC", check: zone},
	{name: "application_name", check: printable, about: "the client's name"},
	{name: "search_path", initial: `"$user", public`},
	{name: "client_min_messages", initial: "notice"},
	{name: "statement_timeout", initial: "0", check: milliseconds("statement_timeout"), about: "the longest that a statement may take"},
	{name: "lock_timeout", initial: "0", check: milliseconds("lock_timeout")},
	{name: "idle_in_transaction_session_timeout", initial: "0", check: milliseconds("idle_in_transaction_session_timeout")},
	{name: "idle_session_timeout", initial: "0", check: milliseconds("idle_session_timeout")},
	{name: "transaction_isolation", initial: "read committed"}, {name: "default_transaction_isolation", initial: "read committed"},
	{name: "transaction_read_only", initial: "off"}, {name: "default_transaction_read_only", initial: "off"},
	{name: "transaction_deferrable", initial: "off"}, {name: "default_transaction_deferrable", initial: "off"},
	{name: "extra_float_digits", initial: "1"}, {name: "row_security", initial: "on"}, {name: "synchronize_seqscans", initial: "on"},
	{name: "synchronous_commit", initial: "on"}, {name: "quote_all_identifiers", initial: "off"}, {name: "check_function_bodies", initial: "on"},
	{name: "xmloption", initial: "content"}, {name: "default_table_access_method", initial: "heap"}, {name: "default_tablespace"},
	{name: "default_text_search_config", initial: "pg_catalog.simple"}, {name: "work_mem", initial: "4MB"}, {name: "maintenance_work_mem", initial: "64MB"},
	{name: "temp_buffers", initial: "8MB"}, {name: "jit", initial: "off"}, {name: "random_page_cost", initial: "4"}, {name: "cursor_tuple_fraction", initial: "0.1"},
	{name: "max_parallel_workers_per_gather", initial: "2"}, {name: "log_statement", initial: "none"}, {name: "log_min_duration_statement", initial: "-1"},
	{name: "enable_seqscan", initial: "on"}, {name: "enable_indexscan", initial: "on"}, {name: "enable_bitmapscan", initial: "on"},
	{name: "enable_hashjoin", initial: "on"}, {name: "enable_mergejoin", initial: "on"}, {name: "enable_nestloop", initial: "on"},
	{name: "force_parallel_mode", initial: "off"}, {name: "geqo", initial: "on"}, {name: "plan_cache_mode", initial: "auto"},
	{name: "array_nulls", initial: "on"}, {name: "backslash_quote", initial: "safe_encoding"}, {name: "escape_string_warning", initial: "on"},
	{name: "transform_null_equals", initial: "off"}, {name: "vacuum_cost_delay", initial: "0"}, {name: "commit_delay", initial: "0"},
	{name: "tcp_keepalives_idle", initial: "0"}, {name: "tcp_keepalives_interval", initial: "0"}, {name: "tcp_keepalives_count", initial: "0"},

	{name: "discreet.epsilon", check: amount("discreet.epsilon", privacy.ParseEpsilon), about: "what a statement spends: pure, or with discreet.delta"},
	{name: "discreet.delta", check: amount("discreet.delta", privacy.ParseDelta), about: "what a statement spends, beside epsilon or rho"},
	{name: "discreet.rho", check: amount("discreet.rho", privacy.ParseRho), about: "what a statement spends, as zero-concentrated privacy"},
	{name: "discreet.confidence", check: confidence, about: "of intervals, between 0 and 1"},
	{name: "discreet.weights", check: weights, about: "how a statement's aggregates share what it spends"},
	{name: "discreet.accuracy", check: accuracy, about: "the error that a statement may have; what it costs follows"},
	{name: "discreet.intervals", initial: "off", check: boolean("discreet.intervals"), about: "columns NAME_low and NAME_high after each noisy one"},
	{name: "discreet.fresh", initial: "off", check: boolean("discreet.fresh"), about: "ask and pay anew where a stored answer would be free"},
	{name: "discreet.free", initial: "off", check: boolean("discreet.free"), about: "charge nothing: what is stored answers, as precise as it is"},
	{name: "discreet.idempotency_key", check: printable, about: "of the next statement alone: a retry returns its stored answer"},
})

func index(list []parameter) map[string]parameter {
	all := map[string]parameter{}
	for _, p := range list {
		all[strings.ToLower(p.name)] = p
	}
	return all
}

// custom names are those of extensions that are not here: any value is kept and means nothing.
var custom = regexp.MustCompile(`^[a-z_][a-z0-9_$]*(\.[a-z_][a-z0-9_$]*)+$`)

// read returns a setting's value, and whether there is one of this name.
func (s *settings) read(name string) (string, bool) {
	name = strings.ToLower(name)
	for _, layer := range []map[string]string{s.local, s.session, s.start} {
		if v, ok := layer[name]; ok {
			return v, true
		}
	}
	p, ok := parameters[name]
	return p.initial, ok
}

func (s *settings) show(name string) string {
	v, _ := s.read(name)
	return v
}

// admit checks a setting's name and value, and returns the value as it is kept.
func (s *settings) admit(name, value string) (string, *failure) {
	if len(value) > maxValue || !utf8.ValidString(value) {
		return "", invalid(name, clip(value), "")
	}
	p, known := parameters[name]
	switch {
	case known && p.check != nil:
		return p.check(value)
	case known:
		return value, nil
	case strings.HasPrefix(name, "discreet."):
		return "", unknownSetting(name).hint("discreet has " + strings.Join(ours(), ", "))
	case !custom.MatchString(name):
		return "", unknownSetting(name)
	}
	if _, ok := s.read(name); !ok && len(s.local)+len(s.session)+len(s.start) >= maxSettings {
		return "", fail("54000", "the session has too many settings")
	}
	return value, nil
}

func unknownSetting(name string) *failure {
	return fail("42704", `unrecognized configuration parameter "`+clip(name)+`"`)
}

// ours are the names that steer answers.
func ours() []string {
	var names []string
	for name := range parameters {
		if strings.HasPrefix(name, "discreet.") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// begin takes a setting of the start-up message. What PostgreSQL knows and this server
// cannot do is passed over, since the parameters reported afterwards say what holds; an unknown
// name, or a value of ours that is wrong, ends the connection.
func (s *settings) begin(v setting) *failure {
	value, f := s.admit(v.name, v.value)
	if f != nil {
		if p, known := parameters[v.name]; known && !strings.HasPrefix(p.name, "discreet.") && v.name != "client_encoding" {
			return nil
		}
		return f
	}
	s.start[v.name] = value
	return nil
}

// set changes a setting, of the transaction where it is local. A nil value is the default.
func (s *settings) set(name string, value *string, local bool) *failure {
	name = strings.ToLower(name)
	if value == nil {
		return s.reset(name, local)
	}
	kept, f := s.admit(name, *value)
	if f != nil {
		return f
	}
	s.put(name, kept, local)
	return nil
}

func (s *settings) put(name, value string, local bool) {
	if local {
		if s.local == nil {
			s.local = map[string]string{}
		}
		s.local[name] = value
		return
	}
	if s.session == nil {
		s.session = map[string]string{}
	}
	delete(s.local, name)
	s.session[name] = value
}

func (s *settings) reset(name string, local bool) *failure {
	p, known := parameters[name]
	if !known && !custom.MatchString(name) || !known && strings.HasPrefix(name, "discreet.") {
		return unknownSetting(name)
	}
	if local {
		value, ok := s.start[name]
		if !ok {
			value = p.initial
		}
		s.put(name, value, true)
		return nil
	}
	delete(s.session, name)
	delete(s.local, name)
	return nil
}

func (s *settings) resetAll() { s.session, s.local = nil, nil }

// timeout is the time of a statement: the client's wish within the server's limit.
func (s *settings) timeout(limit time.Duration) time.Duration {
	n, err := strconv.ParseInt(s.show("statement_timeout"), 10, 64)
	if err != nil || n <= 0 {
		return limit
	}
	return min(limit, time.Duration(min(n, 1<<31))*time.Millisecond)
}

// names lists all settings that have a value, in order.
func (s *settings) names() []string {
	all := map[string]bool{}
	for name := range parameters {
		all[name] = true
	}
	for _, layer := range []map[string]string{s.local, s.session, s.start} {
		for name := range layer {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
