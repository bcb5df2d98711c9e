package serve

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/discreet-dp/discreet/internal/diagnostic"
)

// A Config is how the server listens and what it bounds. It says nothing about data: that
// is the catalog's.
type Config struct {
	// Postgres and HTTP are the addresses to listen on; port 0 chooses one.
	Postgres string `toml:"postgres"`
	HTTP     string `toml:"http"`
	// Hosts are the server's names, beside its addresses: a request by another name is refused.
	Hosts []string `toml:"hosts"`
	TLS   TLS      `toml:"tls"`
	// Step quantises when answers leave: at whole multiples of it. 0 lets them leave at once.
	Step Duration `toml:"step"`
	// Leave is how long the server goes on after an interrupt while /readyz says that it ends, so
	// that a load balancer sends nobody there any more.
	Leave  Duration `toml:"leave"`
	Drain  Duration `toml:"drain"` // how long what runs may go on after that
	Limits Limits   `toml:"limits"`
	Traces Traces   `toml:"traces"`
}

// Traces say where the parts of statements are reported to: an OpenTelemetry collector that
// speaks OTLP over HTTP. Empty: nowhere.
type Traces struct {
	Endpoint string `toml:"endpoint"`
}

// A TLS names the files of a certificate with its chain, and of its key, in PEM.
type TLS struct {
	Certificate string `toml:"certificate"`
	Key         string `toml:"key"`
}

// Limits bound what clients can make the server do.
type Limits struct {
	Connections int `toml:"connections"` // of both doors together
	Statements  int `toml:"statements"`  // that run at once; the number of processors if 0
	Queue       int `toml:"queue"`       // statements that wait
	Rate        int `toml:"rate"`        // statements and explanations a minute, of an account; 0: any
	RateOfAll   int `toml:"rate_of_all"` // of all accounts together
	Answer      int `toml:"answer"`      // the most bytes of an answer; any number if 0
	Results     int `toml:"results"`     // the most bytes that a session's cursors and portals hold
	// ResultsOfAll are the most bytes that all sessions, requests and pages hold.
	ResultsOfAll int      `toml:"results_of_all"`
	Time         Duration `toml:"time"` // of a statement, waiting included
	Idle         Duration `toml:"idle"` // of a connection
}

// A Duration is written as in "50ms" or "5m".
type Duration time.Duration

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err == nil && v < 0 {
		err = errors.New("it is negative")
	}
	*d = Duration(v)
	return err
}

// Defaults are what a configuration does not say.
func Defaults() Config {
	return Config{Postgres: "127.0.0.1:5433", HTTP: "127.0.0.1:8080", Step: Duration(50 * time.Millisecond), Drain: Duration(30 * time.Second),
		Limits: Limits{Connections: 1000, Queue: 1000, Answer: 64 << 20, Results: 64 << 20, ResultsOfAll: 512 << 20, Time: Duration(5 * time.Minute), Idle: Duration(time.Hour)}}
}

// Variables begins the names of variables that override a configuration: DISCREET_SERVE_HTTP,
// DISCREET_SERVE_TLS_KEY.
const Variables = "DISCREET_SERVE_"

// ReadConfig reads a configuration. Its path is empty where there is none; environment, a
// list of NAME=VALUE, overrides it. Files in it are relative to its folder.
func ReadConfig(path string, environment []string) (Config, error) {
	c := Defaults()
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return c, diagnostic.New("D216", diagnostic.Span{}, "the server's configuration cannot be read: %v", err).Try("name the file with --config")
		}
		meta, err := toml.Decode(string(text), &c)
		if err != nil {
			return c, diagnostic.New("D216", diagnostic.Span{}, "the server's configuration %s cannot be read: %v", path, err).Try("see docs/serve.md")
		}
		if unknown := meta.Undecoded(); len(unknown) > 0 {
			d := diagnostic.New("D216", diagnostic.Span{}, "the server's configuration %s has an unknown key %s", path, unknown[0])
			if near := diagnostic.Nearest(unknown[0].String(), keys()); near != "" {
				return c, d.Try("did you mean %s?", near)
			}
			return c, d.Try("the keys are %s", strings.Join(keys(), ", "))
		}
		for _, file := range []*string{&c.TLS.Certificate, &c.TLS.Key} {
			if *file != "" && !filepath.IsAbs(*file) {
				*file = filepath.Join(filepath.Dir(path), *file)
			}
		}
	}
	if err := c.override(environment); err != nil {
		return c, err
	}
	return c, c.Check()
}

// keys are the names of all settings.
func keys() (all []string) {
	walk(reflect.ValueOf(&Config{}).Elem(), "", func(key string, _ reflect.Value) { all = append(all, key) })
	return all
}

// walk calls f with every setting of a configuration.
func walk(v reflect.Value, above string, f func(key string, v reflect.Value)) {
	for i := range v.NumField() {
		key := above + v.Type().Field(i).Tag.Get("toml")
		if v.Field(i).Kind() == reflect.Struct {
			walk(v.Field(i), key+".", f)
			continue
		}
		f(key, v.Field(i))
	}
}

func (c *Config) override(environment []string) (err error) {
	given := map[string]string{}
	for _, pair := range environment {
		name, value, _ := strings.Cut(pair, "=")
		if key, is := strings.CutPrefix(name, Variables); is {
			given[key] = value
		}
	}
	walk(reflect.ValueOf(c).Elem(), "", func(key string, v reflect.Value) {
		name := strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		value, is := given[name]
		delete(given, name)
		if !is || err != nil {
			return
		}
		switch to := v.Addr().Interface().(type) {
		case *string:
			*to = value
		case *[]string:
			*to = strings.Split(value, ",")
		case *int:
			*to, err = strconv.Atoi(value)
		case *Duration:
			err = to.UnmarshalText([]byte(value))
		}
		if err != nil {
			err = diagnostic.New("D216", diagnostic.Span{}, "%s%s is %q: %v", Variables, name, value, err).Try("write it as the configuration would: 10, or 50ms")
		}
	})
	for name := range given {
		if err == nil {
			err = diagnostic.New("D216", diagnostic.Span{}, "the variable %s%s is not a setting of the server", Variables, name).Try("the keys are %s", strings.Join(keys(), ", "))
		}
	}
	return err
}

// Check refuses what cannot be served so.
func (c *Config) Check() error {
	for key, address := range map[string]string{"postgres": c.Postgres, "http": c.HTTP} {
		host, port, err := net.SplitHostPort(address)
		if n, e := strconv.Atoi(port); err != nil || e != nil || n < 0 || n > 65535 {
			return diagnostic.New("D216", diagnostic.Span{}, "%s is %q, which is not an address", key, address).Try(`write "127.0.0.1:5433"; port 0 chooses one`)
		}
		if !loopback(host) && c.TLS.Certificate == "" {
			return diagnostic.New("D218", diagnostic.Span{}, "%s would listen on %s without TLS", key, address).
				Because("others on the network could read passwords and answers").
				Try("name certificate and key in [tls], or listen on 127.0.0.1")
		}
	}
	if at, err := url.Parse(c.Traces.Endpoint); c.Traces.Endpoint != "" && (err != nil || at.Host == "" || at.Scheme != "https" && !(at.Scheme == "http" && loopback(at.Hostname()))) {
		return diagnostic.New("D216", diagnostic.Span{}, "traces.endpoint is %q", c.Traces.Endpoint).
			Because("durations reveal something about data, so they leave this machine by https alone").Try(`write "http://127.0.0.1:4318", or an https address`)
	}
	if (c.TLS.Certificate == "") != (c.TLS.Key == "") {
		return diagnostic.New("D216", diagnostic.Span{}, "[tls] names a certificate or a key, not both").Try("name both files")
	}
	for key, n := range map[string]int{"limits.connections": c.Limits.Connections, "limits.queue": c.Limits.Queue, "limits.results": c.Limits.Results, "limits.results_of_all": c.Limits.ResultsOfAll} {
		if n < 1 {
			return diagnostic.New("D216", diagnostic.Span{}, "%s must be at least 1", key)
		}
	}
	for key, n := range map[string]int{"limits.statements": c.Limits.Statements, "limits.answer": c.Limits.Answer, "limits.rate": c.Limits.Rate, "limits.rate_of_all": c.Limits.RateOfAll} {
		if n < 0 {
			return diagnostic.New("D216", diagnostic.Span{}, "%s must not be negative", key).Try("0 means the number of processors, or any rate")
		}
	}
	if c.Limits.Statements > maxStatements {
		return diagnostic.New("D216", diagnostic.Span{}, "limits.statements must be at most %d", maxStatements).
			Because("each statement that may run has an instance of the engine and a share of the memory").Try("write 0 for the number of processors")
	}
	for key, d := range map[string]Duration{"limits.time": c.Limits.Time, "limits.idle": c.Limits.Idle} {
		if d <= 0 {
			return diagnostic.New("D216", diagnostic.Span{}, "%s must be longer than 0", key).Try("write it as in 5m; everything has a limit")
		}
	}
	for _, name := range c.Hosts {
		if name == "" || strings.ContainsAny(name, " \t/,@?#") {
			return diagnostic.New("D216", diagnostic.Span{}, "hosts has %q, which is not a name of a machine", name).Try(`write "private.example.org", without a scheme and a path`)
		}
	}
	return nil
}

// maxStatements bounds how many statements run at once.
const maxStatements = 256

// loopback reports whether a host is this machine alone.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Loopback reports whether nobody but this machine can connect.
func (c Config) Loopback() bool {
	for _, address := range []string{c.Postgres, c.HTTP} {
		host, _, err := net.SplitHostPort(address)
		if err != nil || !loopback(host) {
			return false
		}
	}
	return true
}

func (t TLS) String() string {
	if t.Certificate == "" {
		return "no TLS"
	}
	return fmt.Sprintf("certificate %s", t.Certificate)
}
