package house_test

// The design's picture as a test: who may import whom, with the reason beside
// each ban. Packages are written as the go command writes them: "./noise" is
// ours, "./engine/..." a package and what lies under it, "crypto/rand" somebody
// else's. A rule may name a package that does not exist yet.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/discreet-dp/discreet"

// An only rule closes the list of our own packages that a package imports.
type only struct {
	pkg string
	may []string
	why string
}

var onlys = []only{
	{"./sqltype", nil, "catalog, plan and engines share it"},
	{"./internal/numeric", nil, "a leaf: mathematics"},
	{"./internal/entropy", nil, "a leaf that is reviewed by itself"},
	{"./internal/diagnostic", nil, "every stage speaks through it"},
	{"./internal/datafile", nil, "a leaf: files, and which they are"},
	{"./notation", []string{"./sqltype"}, "how values are written: text to text, to be reviewed alone"},
	{"./internal/snapshot", []string{"./internal/custody"}, "a copy of a database's file; it reads no record"},
	{"./internal/pgsql", nil, "a database's sessions: it knows nothing that is in it"},
	{"./internal/store", []string{"./internal/custody", "./internal/snapshot"}, "it opens files and knows nothing that is in them"},
	{"./internal/custody", nil, "a leaf: modes of files, to be reviewed alone"},
	{"./internal/smt", nil, "a leaf: text to a solver and back"},
	{"./internal/plot", []string{"./internal/cells"}, "a leaf: it draws numbers and knows no privacy"},
	{"./privacy", []string{"./internal/numeric"}, "the vocabulary; it composes nothing"},
	{"./privacy/plan", []string{"./internal/numeric", "./privacy"}, "a language: text to events and back"},
	{"./noise", []string{"./internal/entropy", "./internal/numeric"}, "samplers know no privacy"},
	{"./internal/proportion", nil, "a leaf: mathematics"},
	{"./collect/local", []string{"./mechanism", "./noise", "./privacy", "./internal/numeric", "./internal/proportion"}, "randomizers and estimates, to be reviewed alone: no data, no budget"},
	{"./collect/local/client", []string{"./budget", "./noise", "./privacy"}, "a respondent's books: no protocol, no ledger that it would know"},
	{"./collect/shuffle", []string{"./accountant", "./mechanism", "./noise", "./privacy", "./internal/entropy", "./internal/proportion"}, "randomizers, seals and certificates, to be reviewed alone: no network, no files"},
	{"./collect/multiparty", []string{".", "./collect/cluster", "./internal/additive", "./internal/custody", "./internal/diagnostic", "./internal/entropy", "./internal/identity", "./internal/numeric", "./internal/store", "./ledger", "./noise", "./people", "./privacy", "./sqltype"}, "members of a federation: statements are answered by the front door alone, and no exact value is seen here"},
	{"./collect/multiparty/prio", []string{"./filter", "./internal/entropy", "./internal/store", "./mechanism", "./noise", "./privacy"}, "shares of people's numbers, and an aggregator's state: no network, no ledger"},
	{"./collect/multiparty/prio/process", []string{"./collect/cluster", "./collect/multiparty/prio", "./filter", "./internal/custody", "./internal/entropy", "./internal/store", "./mechanism", "./privacy"}, "aggregators, and who speaks to them: no data, no noise of their own, no ledger"},
	{"./internal/additive", []string{"./noise"}, "arithmetic of shares, to be reviewed alone"},
	{"./collect/cluster", []string{"./internal/custody", "./internal/entropy"}, "processes, keys and ports: no data, no privacy"},
	{"./collect/federated", []string{"./accountant", "./filter", "./internal/numeric", "./learn", "./learn/cost", "./learn/example", "./learn/network", "./learn/optimizer", "./mechanism", "./noise", "./privacy"}, "plans, sums and what they reveal, to be reviewed alone: no process, no budget"},
	{"./collect/federated/node", []string{"./accountant", "./budget", "./budget/durable", "./collect/cluster", "./collect/federated", "./collect/multiparty/prio", "./collect/multiparty/prio/process", "./datanode", "./filter", "./internal/custody", "./internal/numeric", "./learn", "./learn/example", "./learn/network", "./ledger", "./noise", "./privacy"}, "a holder of data with books of its own: it knows no coordinator"},
	{"./collect/federated/coordinator", []string{"./collect/cluster", "./collect/federated", "./collect/federated/node", "./collect/multiparty/prio", "./collect/multiparty/prio/process", "./filter", "./internal/custody", "./learn/example", "./learn/network", "./noise", "./privacy"}, "rounds: no data, no budget, no ledger"},
	{"./mechanism", []string{"./noise", "./privacy", "./internal/entropy", "./internal/numeric", "./internal/proportion"}, "a mechanism knows no database, no search and no budget"},
	{"./accountant", []string{"./accountant/internal/loss", "./accountant/internal/pld", "./accountant/internal/referee", "./accountant/internal/shuffle", "./accountant/internal/subsample", "./accountant/internal/transform", "./accountant/internal/work", "./filter", "./privacy", "./privacy/plan", "./internal/numeric", "./internal/diagnostic"}, "mathematics, to be reviewed alone"},
	{"./accountant/internal/work", nil, "a leaf: it counts"},
	{"./accountant/internal/loss", []string{"./privacy"}, "the laws of single events, to be reviewed alone"},
	{"./accountant/internal/pld", []string{"./accountant/internal/loss", "./accountant/internal/work"}, "composition knows laws, not events"},
	{"./accountant/internal/referee", []string{"./privacy", "./internal/numeric"}, "what the accountants are held against shares no code with them"},
	{"./accountant/internal/shuffle", []string{"./accountant/internal/loss", "./accountant/internal/work"}, "bounds by theorem, to be reviewed alone"},
	{"./accountant/internal/subsample", []string{"./accountant/internal/loss", "./accountant/internal/work"}, "theorems on profiles, to be reviewed alone"},
	{"./accountant/internal/transform", []string{"./accountant/internal/loss", "./accountant/internal/work"}, "numerical analysis, to be reviewed alone"},
	{"./filter", []string{"./privacy", "./internal/numeric"}, "mathematics, to be reviewed alone"},
	{"./budget", []string{"./filter", "./privacy", "./internal/numeric"}, "who pays, not how it is kept: a ledger is one way"},
	{"./budget/durable", []string{"./budget", "./filter", "./ledger", "./privacy"}, "a ledger's domain as a budget, nothing else"},
	{"./audit", []string{"./budget", "./mechanism", "./noise", "./privacy"}, "an attack sees answers: no database, no catalog, no ledger"},
	{"./learn/leakage", []string{"./audit", "./learn/example", "./learn/network", "./learn/optimizer", "./noise"}, "an attack sees examples and models: no budget, no ledger, and no trainer, whom it judges"},
	{"./datanode", []string{"./notation", ".", "./accountant", "./budget", "./filter", "./mechanism", "./noise", "./privacy", "./sqltype", "./internal/custody", "./internal/records"}, "a node joins data, mechanisms and budgets; a catalog's table answers by the front door alone"},
	{"./dataset", []string{"./budget", "./filter", "./mechanism", "./noise", "./privacy", "./internal/numeric"}, "transformations in Go over budgets and mechanisms: no database, no ledger of its own"},
	{"./people/journal", []string{"./internal/store"}, "it decides nothing: no account, no ledger"},
	{"./people", []string{"./filter", "./internal/entropy", "./internal/pgsql", "./ledger", "./internal/store"}, "who may ask, to be reviewed alone: no data, no statement is read, no door"},
	{"./ledger", []string{"./filter", "./privacy", "./privacy/plan", "./internal/custody", "./internal/datafile", "./internal/entropy", "./internal/numeric", "./internal/diagnostic", "./internal/pgsql", "./internal/snapshot"}, "money, to be reviewed alone; a filter is not an accountant; it draws nothing but its key, and compares names of files that it never opens"},
	{"./sandbox", []string{"./budget", "./mechanism", "./noise", "./privacy", "./sandbox/internal/instrument", "./sqltype", "./internal/numeric"}, "untrusted code meets records and a budget here, no engine and no ledger"},
	{"./sandbox/worker", []string{"./internal/identity", "./sandbox", "./sqltype"}, "calls and what they make, to be reviewed alone: no engine, no budget, no ledger"},
	{"./sandbox/internal/instrument", nil, "bytes to bytes, to be reviewed alone"},
	{"./catalog", []string{"./notation", "./privacy", "./sqltype", "./internal/custody", "./internal/datafile", "./internal/diagnostic", "./internal/numeric"}, "what the owner declares; it reads no data"},
	{"./verify", []string{"./internal/smt", "./noise", "./verify/internal/certificate", "./verify/internal/claim", "./verify/internal/exact", "./verify/internal/fuse", "./verify/internal/program", "./verify/internal/prove", "./verify/internal/rank", "./verify/internal/ratio", "./verify/internal/replay", "./verify/internal/rounds", "./verify/internal/sensitivity", "./verify/internal/source", "./verify/internal/tally"}, "it brings reading, proving and refuting together"},
	{"./verify/internal/program", nil, "a function as data: no Go syntax, no solver"},
	{"./verify/report", []string{"./verify"}, "it shows verdicts and makes none"},
	{"./verify/internal/rewritetest", []string{"./verify/internal/exact", "./verify/internal/program", "./verify/internal/source"}, "tests read functions and compare their probabilities with it"},
	{"./verify/internal/absorb", []string{"./verify/internal/program"}, "one theorem, from a function to a function: to be reviewed alone"},
	{"./verify/internal/fuse", []string{"./verify/internal/program"}, "one theorem, from a function to a function: to be reviewed alone"},
	{"./verify/internal/rounds", []string{"./verify/internal/claim", "./verify/internal/program", "./verify/internal/ratio"}, "one theorem, from a function and its claim to those of one round: to be reviewed alone"},
	{"./verify/internal/tally", []string{"./verify/internal/claim", "./verify/internal/program"}, "one theorem, from a function of records and its claim to those of their counts: to be reviewed alone"},
	{"./verify/internal/rank", []string{"./verify/internal/claim", "./verify/internal/program", "./verify/internal/ratio"}, "one theorem, and the order of what noise was added to: no search, no solver"},
	{"./verify/internal/replay", []string{"./verify/internal/absorb", "./verify/internal/certificate", "./verify/internal/claim", "./verify/internal/fuse", "./verify/internal/program", "./verify/internal/prove", "./verify/internal/rank", "./verify/internal/ratio", "./verify/internal/rounds", "./verify/internal/tally"}, "it checks and searches for nothing"},
	{"./verify/internal/certificate", nil, "a file of anybody's text: it knows no proof"},
	{"./verify/internal/sensitivity", []string{"./accountant", "./privacy", "./privacy/plan", "./verify/internal/claim", "./verify/internal/program"}, "static rules give a plan, the accountant evaluates it: no solver, no run"},
	{"./verify/internal/claim", []string{"./verify/internal/program"}, "what is claimed, as data"},
	{"./verify/internal/prove", []string{"./internal/smt", "./verify/internal/claim", "./verify/internal/linear", "./verify/internal/program"}, "proofs by alignment, from data to data: no Go syntax of functions, no counterexamples"},
	{"./verify/internal/source", []string{"./verify/internal/claim", "./verify/internal/program"}, "Go to data: it proves nothing"},
	{"./verify/internal/linear", nil, "all proofs rest on it: arithmetic, to be reviewed alone"},
	{"./verify/internal/exact", []string{"./internal/numeric", "./noise", "./verify/internal/claim", "./verify/internal/program"}, "probabilities, to be reviewed alone: no proof, no solver, no Go syntax"},
	{"./verify/internal/ratio", []string{"./internal/numeric", "./verify/internal/claim", "./verify/internal/linear", "./verify/internal/program"}, "rules and exact arithmetic: no Go syntax, no solver"},
	{"./learn/scatter", []string{"./learn/example", "./learn/internal/gemm"}, "fixed features of an example: nothing is learned, so nothing is paid"},
	{"./learn/internal/gemm", nil, "arithmetic: it knows no model"},
	{"./learn/internal/gaussian", nil, "a sampler that is reviewed by itself: its key is handed in"},
	{"./learn/network", []string{"./learn/example", "./learn/internal/gemm"}, "gradients, to be reviewed alone: no noise, no budget"},
	{"./learn/pate/analysis", []string{"./learn/pate/internal/tail"}, "mathematics of votes, to be reviewed alone: it releases nothing"},
	{"./learn/pate/internal/tail", nil, "a leaf: mathematics"},
	{"./learn/pate", []string{"./accountant", "./budget", "./filter", "./internal/entropy", "./internal/numeric", "./learn/example", "./learn/internal/container", "./learn/internal/gemm", "./learn/network", "./learn/optimizer", "./learn/pate/analysis", "./learn/pate/internal/tail", "./mechanism", "./noise", "./privacy"}, "votes, mechanisms and a budget: no database, no ledger"},
	{"./learn/example", []string{"./notation", "./catalog", "./internal/datafile", "./internal/records", "./sqltype"}, "records to numbers by declarations: no noise, no budget, no database"},
	{"./learn", []string{"./accountant", "./budget", "./filter", "./internal/entropy", "./internal/numeric", "./learn/example", "./learn/internal/container", "./learn/internal/gaussian", "./learn/internal/normal", "./learn/network", "./learn/optimizer", "./noise", "./privacy", "./privacy/plan"}, "a run pays a budget whose kind it does not know, and learns examples from wherever"},
	{"./learn/optimizer", nil, "post-processing: it knows no privacy and draws nothing"},
	{"./learn/internal/normal", []string{"./noise"}, "a sampler, to be reviewed alone"},
	{"./learn/internal/container", nil, "files, to be reviewed alone"},
	{"./engine", []string{"./internal/datafile", "./notation", "./sqltype"}, "the interface belongs to its consumer and knows no adapter"},
	{"./engine/internal/remote", []string{"./catalog", "./engine", "./internal/datafile", "./sqltype"}, "what adapters of databases share: it speaks to none"},
	{"./internal/sqlparse", []string{"./internal/diagnostic"}, "text to tree: no names, no types"},
	{"./internal/plan", []string{"./catalog", "./internal/diagnostic", "./internal/numeric", "./sqltype"}, "the plan is data"},
	{"./internal/bind", []string{"./catalog", "./internal/diagnostic", "./internal/plan", "./internal/sqlparse", "./sqltype"}, "stages do not know each other, only what passes between them"},
	{"./learn/cost", []string{"./accountant", "./budget", "./filter", "./learn/example", "./mechanism", "./noise", "./privacy", "./internal/numeric"}, "what learners charge and how they hide: no model, no ledger of its own"},
	{"./learn/feature", []string{"./learn/example"}, "declarations of features"},
	{"./learn/internal/decision", nil, "scores to predictions: arithmetic"},
	{"./learn/internal/fixed", []string{"./learn/example"}, "examples as integers: arithmetic, to be reviewed alone"},
	{"./learn/internal/moment", []string{"./learn/cost", "./learn/internal/fixed", "./noise"}, "one release that two learners make"},
	{"./learn/convex", []string{"./budget", "./learn/cost", "./learn/example", "./learn/internal/decision", "./learn/internal/fixed", "./learn/internal/moment", "./mechanism", "./noise", "./privacy", "./internal/numeric"}, "a learner sees examples and a budget: no table, no ledger, no other learner"},
	{"./learn/tree", []string{"./budget", "./learn/cost", "./learn/example", "./learn/feature", "./learn/internal/decision", "./learn/internal/fixed", "./noise"}, "a learner sees examples and a budget: no table, no ledger, no other learner"},
	{"./learn/bayes", []string{"./budget", "./learn/cost", "./learn/example", "./learn/feature", "./learn/internal/fixed", "./noise"}, "a learner sees examples and a budget: no table, no ledger, no other learner"},
	{"./learn/kmeans", []string{"./budget", "./internal/numeric", "./learn/cost", "./learn/example", "./learn/internal/fixed", "./noise"}, "a learner sees examples and a budget: no table, no ledger, no other learner"},
	{"./learn/pca", []string{"./budget", "./internal/numeric", "./learn/cost", "./learn/example", "./learn/internal/fixed", "./learn/internal/moment", "./noise"}, "a learner sees examples and a budget: no table, no ledger, no other learner"},
	{"./learn/ftrl", []string{"./budget", "./internal/numeric", "./learn/cost", "./learn/example", "./learn/network", "./noise"}, "a learner sees examples and a budget: no table, no ledger, no other learner"},
	{"./learn/learner", []string{"./budget", "./learn/bayes", "./learn/convex", "./learn/cost", "./learn/example", "./learn/feature", "./learn/ftrl", "./learn/kmeans", "./learn/network", "./learn/pca", "./learn/tree", "./noise", "./privacy"}, "the classic learners by name: no table, no ledger"},
	{"./internal/derive", []string{"./catalog", "./internal/bind", "./internal/diagnostic", "./internal/plan", "./internal/render", "./internal/sqlparse", "./internal/stability", "./sqltype"}, "the owner's SQL to columns: no engine and no data"},
	{"./internal/books", []string{".", "./filter", "./internal/numeric", "./ledger", "./privacy"}, "what a ledger tells, for commands and servers: it writes down and decides nothing"},
	{"./internal/bounds", []string{"./accountant", "./filter", "./internal/diagnostic", "./internal/numeric", "./privacy", "./privacy/plan"}, "what accountants say, for commands and servers: no data, no ledger, no terminal"},
	{"./internal/display", []string{".", "./internal/numeric", "./internal/plot", "./internal/diagnostic", "./sqltype"}, "how an answer is shown, for commands and servers: it sees what was released, and no terminal"},
	{"./internal/declaration", []string{"./catalog", "./internal/derive", "./internal/diagnostic", "./internal/numeric", "./internal/plan", "./sqltype"}, "what the owner declared, for commands and servers: no data, no terminal"},
	{"./internal/stability", []string{"./catalog", "./internal/diagnostic", "./internal/numeric", "./internal/plan", "./privacy", "./sqltype"}, "a pure function over the plan: no database, no noise, no budget"},
	{"./internal/rewrite", []string{"./catalog", "./internal/diagnostic", "./internal/numeric", "./internal/plan", "./internal/stability", "./privacy", "./sqltype"}, "plan to plan by the certificate"},
	{"./internal/sqlparse/statement", []string{"./internal/diagnostic", "./internal/sqlparse"}, "text to a tree of queries on the system catalog"},
	{"./serve/postgres/pgcatalog", []string{"./catalog", "./internal/diagnostic", "./internal/sqlparse/statement", "./sqltype"}, "it answers from declarations: no data, no budget"},
	{"./internal/render", []string{"./catalog", "./engine", "./internal/diagnostic", "./internal/plan", "./sqltype"}, "plan to text; it decides nothing"},
}

// A ban forbids an import, or reaching a package by any way when deep is set.
// Tests are free unless tests is set.
type ban struct {
	from, to    string
	except      []string // who may, of from
	deep, tests bool
	why         string
}

// testCode are the packages that several packages' tests share.
var testCode = []string{"./engine/enginetest", "./examples/internal/programtest", "./examples/internal/roundtest", "./internal/eventtest", "./internal/datafile/datafiletest", "./internal/diagnostic/diagnostictest", "./internal/postgrestest", "./internal/trinotest", "./learn/internal/learntest", "./serve/internal/gatewaytest", "./verify/internal/rewritetest", "./collect/internal/clustertest"}

var bans = []ban{
	// Walls of the trusted core.
	{from: "./...", to: "crypto/rand", except: []string{"./internal/entropy", "./internal/trinotest"}, // the last makes a test's certificate
		why: "randomness comes from entropy alone"},
	{from: "./...", to: "math/rand/...", except: []string{
		"./internal/cli/clitest", // draws people for tests
		"./internal/clinic",      // draws the demo's patients, who protect nobody; no noise
	}, why: "predictable randomness is no randomness"},
	{from: "./...", to: "hash/maphash", why: "its seed does not come from internal/entropy"},
	{from: "./...", to: "unsafe", why: "exact values could be read around engine.Exact"},
	{from: "./...", to: "plugin", why: "code that nobody reviewed"},
	{from: "./...", to: "net/...", except: []string{
		"./engine/duckdb",                  // net/url writes the driver's settings; the instance has no network
		"./internal/datafile/datafiletest", // makes a socket, which is no file
		"./serve/...",                      // the doors
		"./internal/cli/serve",             // opens them
		"./people",                         // net/netip reads addresses; nothing is sent
		"./collect/multiparty",             // members speak to members
		"./internal/cli/multiparty",        // hands their handlers on
		"./internal/identity",              // how they know each other
		"./internal/cli/worker",            // listens for it, or calls it
		"./sandbox/worker",                 // makes an owner's calls on other machines of hers
		"./collect/...",                    // parties that do not trust each other are on machines of their own
		"./engine/trino",                   // the owner's cluster, which the environment names
		"./internal/trinotest",             // starts a cluster on loopback ports
		"./internal/pgsql",                 // the owner's database, which the environment names
		"./ledger/...",                     // its books may be there
		"./people",                         // and its accounts
	}, why: "nothing leaves the machine but through the server's doors"},
	{from: "./...", to: "os/exec", except: []string{
		"./packaging/notices", // runs the go command for a release
		"./internal/postgrestest",
		"./internal/trinotest",
		"./internal/smt",    // runs z3 and cvc5; who uses it checks what they find
		"./collect/cluster", // starts the roles of a cluster
	}, why: "a child process can see what it is given"},
	{from: "./accountant", to: "./mechanism", deep: true, tests: true, why: "mechanisms know no search; release and dataset join the two"},
	{from: "./mechanism", to: "./accountant", deep: true, tests: true, why: "mechanisms know no search; release and dataset join the two"},
	{from: "./ledger", to: "./accountant/...", deep: true, why: "with adaptive queries only a valid filter decides"},
	{from: "./filter", to: "./accountant/...", deep: true, tests: true, why: "a bound of a plan that is fixed in advance does not hold for an adaptive sequence"},
	{from: "./filter", to: "gonum.org/...", deep: true, why: "a filter only adds up; transforms and searches belong to accountants"},
	{from: "./filter", to: "database/sql", deep: true, why: "mathematics"},
	{from: "./filter", to: "time", why: "an admission is a function of what was spent"},
	{from: "./filter", to: "os", why: "mathematics"},
	{from: "./accountant", to: "database/sql", deep: true, why: "mathematics"},
	{from: "./internal/stability", to: "context", why: "it is a pure function"},
	{from: "./internal/stability", to: "os", why: "pure"},
	{from: "./internal/stability", to: "database/sql", deep: true, why: "pure"},
	{from: "./internal/release", to: "./ledger", deep: true, why: "release turns exact values into noisy ones; charges happen before and after it"},

	// Each library behind one wall.
	{from: "./...", to: "github.com/sqlc-dev/oliphant/...", except: []string{"./internal/sqlparse/..."},
		why: "only sqlparse knows the parser"},
	{from: "./...", to: "github.com/duckdb/...", except: []string{"./engine/duckdb/..."},
		why: "cgo and DuckDB only in their adapter"},
	{from: "./...", to: "C", except: []string{"./engine/duckdb/least"}, // DuckDB calls it for each of its rows
		why: "cgo only in the libraries of adapters"},
	{from: "./...", to: "github.com/tetratelabs/wazero/...", except: []string{"./sandbox"},
		why: "one package runs code that nobody trusts"},
	{from: "./...", to: "modernc.org/...", except: []string{"./ledger", "./internal/store", "./collect/internal/clustertest"},
		why: "SQLite is the ledger's, and of the files beside it"},
	{from: "./...", to: "database/sql", except: []string{"./ledger", "./people/...", "./internal/store", "./collect/...", "./engine/...", "./internal/pgsql", "./internal/snapshot"},
		why: "databases are behind engine, money behind ledger; accounts and queues of roles are of neither"},
	{from: "./...", to: "github.com/spf13/...", except: []string{"./internal/cli", "./internal/cli/command", "./internal/cli/manual"},
		why: "one frame of commands"},
	{from: "./internal/cli/command", to: "github.com/spf13/cobra/doc/...", deep: true, why: "manual pages are made beforehand"},
	{from: "./...", to: "github.com/cloudflare/circl/...", except: []string{"./collect/..."},
		why: "cryptography of the models in which nobody is trusted alone"},
	{from: "./...", to: "gonum.org/v1/plot/...", why: "internal/plot draws; that library brings fonts, PDF and LaTeX"},
	{from: "./...", to: "github.com/xdg-go/...", except: []string{"./people", "./serve/..."},
		why: "passwords are people's; a door names the channel that a conversation is bound to"},
	{from: "./...", to: "github.com/BurntSushi/toml", except: []string{"./catalog", "./serve", "./collect/multiparty"},
		why: "the catalog's form is the catalog's"},
	{from: "./...", to: "golang.org/x/tools/...", except: []string{"./verify/internal/source", "./verify/analyzer", "./cmd/discreetvet"},
		why: "Go's syntax is read in one place, and in the shell of go vet"},
	{from: "./...", to: "./engine/duckdb/...", except: []string{"./internal/cli/workplace", "./engine/duckdb/...", "./serve/internal/gatewaytest"},
		why: "one file of internal/cli/workplace links the engine, so that all else builds without cgo"},
	{from: ".", to: "./engine/duckdb/...", deep: true, why: "the front door opens on any engine"},
	{from: "./...", to: "./ledger", except: []string{".", "./internal/cli/...", "./internal/books", "./budget/durable", "./collect/federated/node", "./collect/multiparty", "./people/...", "./serve/gateway", "./serve/postgres", "./serve/rest", "./serve/web", "./serve/internal/gatewaytest"},
		why: "the front door charges for statements, budget for programs, nobody else; a node of a federation opens its own"},
	{from: "./cmd/discreetvet", to: "./engine/...", deep: true, why: "the vet tool links no database"},
	{from: "./cmd/discreetvet", to: "database/sql", deep: true, why: "the vet tool links no database"},
	{from: "./verify/analyzer", to: "./internal/smt", why: "it calls no solver"},
	{from: "./verify/internal/replay", to: "./internal/smt", why: "it calls no solver"},

	// The command: main wires, a family of commands knows no other, and what they share knows
	// no family.
	{from: "./...", to: "./internal/cli", except: []string{"./cmd/discreet", "./internal/cli/manual"}, why: "the command is not a library"},
	{from: "./internal/cli/...", to: "./internal/cli/query", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/owner", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/account", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/noise", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/audit", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/verify", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/local", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/multiparty", except: []string{"./internal/cli", "./internal/cli/cluster"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/learn", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/federated", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/shuffle", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/...", to: "./internal/cli/cluster", except: []string{"./internal/cli"}, why: "families of commands know no other"},
	{from: "./internal/cli/terminal", to: "./internal/cli/...", why: "the terminal is below all commands"},
	{from: "./internal/cli/command", to: "./internal/cli/workplace", why: "the frame opens nothing"},
	{from: "./internal/cli/failure", to: "./internal/cli/command", why: "failures are reported without a command"},

	// Leaves: nothing on the way of a query depends on them.
	{from: "./internal/cli/...", to: "./internal/testreport", why: "a tool of the Makefile"},
	{from: ".", to: "./learn/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./verify/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./audit/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./collect/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./dataset/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./datanode/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./sandbox/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./serve/...", deep: true, why: "the library of statements is used by these, not the other way round"},
	{from: ".", to: "./people/...", deep: true, why: "a leaf: the ledger knows holders of quotas by name alone"},
	{from: "./ledger", to: "./people/...", deep: true, tests: true, why: "money, to be reviewed alone"},
	{from: "./serve/...", to: "./internal/cli/...", deep: true, why: "the command opens the server, not the server the command"},
	{from: ".", to: "./internal/clinic", deep: true, why: "the demo's data is no part of the library"},

	// What only tests need.
	{from: "./...", to: "./engine/enginetest", why: "the conformance suite reveals exact values"},
	{from: "./...", to: "./examples/internal/programtest", why: "test code in the product"},
	{from: "./...", to: "./examples/internal/roundtest", why: "test code in the product"},
	{from: "./...", to: "./internal/cli/clitest", why: "test code in the product"},
	{from: "./...", to: "./internal/eventtest", why: "test code in the product"},
	{from: "./...", to: "./internal/datafile/datafiletest", why: "test code in the product"},
	{from: "./...", to: "./internal/diagnostic/diagnostictest", why: "test code in the product"},
	{from: "./...", to: "./internal/postgrestest", why: "test code in the product"},
	{from: "./...", to: "./internal/trinotest", why: "test code in the product"},
	{from: "./...", to: "./collect/internal/clustertest", why: "test code in the product"},
	{from: "./...", to: "./learn/internal/learntest", why: "test code in the product"},
	{from: "./...", to: "./serve/internal/gatewaytest", why: "test code in the product"},
	{from: "./...", to: "./verify/internal/rewritetest", why: "test code in the product"},
	{from: "./...", to: "./sandbox/internal/wasmtest", why: "test code in the product"},
	{from: "./...", to: "testing/...", except: testCode, why: "test code in the product"},
	{from: "./...", to: "pgregory.net/rapid", except: testCode, why: "test code in the product"},
	{from: "./...", to: "github.com/cockroachdb/datadriven", except: testCode, why: "test code in the product"},
	{from: "./...", to: "github.com/chromedp/...", except: testCode, why: "a browser looks at pages in tests alone"},
	{from: "./...", to: "github.com/google/go-cmp/...", except: testCode, why: "test code in the product"},
	{from: "./...", to: "github.com/rogpeppe/...", except: testCode, why: "test code in the product"},
	{from: "./...", to: "github.com/jackc/pgx/...", except: []string{"./engine/postgres", "./internal/pgsql", "./serve/..."}, why: "elsewhere PostgreSQL is an oracle in tests"},
}

// A pkg is what the go command tells of a package of ours, in the rules' notation.
type pkg struct {
	Path          string
	Name          string
	Doc           string
	Imports       []string
	TestImports   []string // of both kinds of tests
	Deps          []string // everything reached without tests
	TestOnlyFiles bool     // there is nothing but tests
}

// relative writes our own packages as "./path" and leaves others alone.
func relative(path string) string {
	if path == module {
		return "."
	}
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		return "./" + rest
	}
	return path
}

// match reports whether a pattern covers a package.
func match(pattern, path string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	}
	return pattern == path
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, path) })
}

func (r only) violations(p pkg) (v []string) {
	if p.Path != r.pkg {
		return nil
	}
	for _, imported := range p.Imports {
		if match("./...", imported) && !slices.Contains(r.may, imported) {
			v = append(v, fmt.Sprintf("%s imports %s: %s", p.Path, imported, r.why))
		}
	}
	return v
}

func (r ban) violations(p pkg) (v []string) {
	if !match(r.from, p.Path) || matchAny(r.except, p.Path) {
		return nil
	}
	seen := p.Imports
	if r.deep {
		seen = slices.Concat(seen, p.Deps)
	}
	if r.tests {
		seen = slices.Concat(seen, p.TestImports)
	}
	slices.Sort(seen)
	for _, reached := range slices.Compact(seen) {
		if match(r.to, reached) {
			v = append(v, fmt.Sprintf("%s reaches %s: %s", p.Path, reached, r.why))
		}
	}
	return v
}

// packages lists the module's packages, with cgo, as the go command sees them.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Doc,GoFiles,CgoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Name, Doc                                       string
			GoFiles, CgoFiles, Imports, TestImports, XTestImports, Deps []string
		}
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		rel := func(paths []string) (r []string) {
			for _, path := range paths {
				r = append(r, relative(path))
			}
			return r
		}
		all = append(all, pkg{
			Path: relative(p.ImportPath), Name: p.Name, Doc: p.Doc,
			Imports:       rel(p.Imports),
			TestImports:   rel(slices.Concat(p.TestImports, p.XTestImports)),
			Deps:          rel(p.Deps),
			TestOnlyFiles: len(p.GoFiles)+len(p.CgoFiles) == 0,
		})
	}
}

func TestImports(t *testing.T) {
	inRoot(t)
	all := packages(t)
	for _, p := range all {
		for _, r := range onlys {
			for _, v := range r.violations(p) {
				t.Error(v)
			}
		}
		for _, r := range bans {
			for _, v := range r.violations(p) {
				t.Error(v)
			}
		}
	}
	if len(all) < 10 {
		t.Errorf("go list found %d packages", len(all))
	}
}

// Each rule is shown a package that breaks it, and one that may.
func TestImportRulesBite(t *testing.T) {
	for _, r := range onlys {
		if r.why == "" {
			t.Errorf("rule for %s gives no reason", r.pkg)
		}
		if len(r.violations(pkg{Path: r.pkg, Imports: []string{"./internal/release"}})) == 0 {
			t.Errorf("%s may import ./internal/release", r.pkg)
		}
		if v := r.violations(pkg{Path: r.pkg, Imports: append([]string{"fmt"}, r.may...)}); v != nil {
			t.Errorf("the allowed imports of %s are refused: %v", r.pkg, v)
		}
	}
	for _, r := range bans {
		if r.why == "" {
			t.Errorf("ban of %s gives no reason", r.to)
		}
		from := strings.Replace(r.from, "...", "somewhere", 1)
		to := strings.TrimSuffix(r.to, "/...")
		if len(r.violations(pkg{Path: from, Imports: []string{to}})) == 0 {
			t.Errorf("%s may import %s", from, to)
		}
		if deep := len(r.violations(pkg{Path: from, Deps: []string{to}})) > 0; deep != r.deep {
			t.Errorf("%s reaching %s: refused %v, want %v", from, to, deep, r.deep)
		}
		for _, e := range r.except {
			if v := r.violations(pkg{Path: strings.TrimSuffix(e, "/..."), Imports: []string{to}}); v != nil {
				t.Errorf("an exception is refused: %v", v)
			}
		}
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	inRoot(t)
	for _, p := range packages(t) {
		if p.Doc == "" && !p.TestOnlyFiles {
			t.Errorf("%s has no package comment", p.Path)
		}
	}
}

// A replaced module is not the one that go.sum and its reviewers know.
func TestModuleReplacesNothing(t *testing.T) {
	inRoot(t)
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var m struct{ Replace []any }
	if err := json.Unmarshal(out, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Replace) > 0 {
		t.Errorf("go.mod replaces %v", m.Replace)
	}
}
