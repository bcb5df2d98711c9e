package discreet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/internal/diagnostic"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/rewrite"
	"github.com/discreet-dp/discreet/internal/stability"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/sqltype"
)

// Query answers a statement. Its cost is reserved durably before private data
// is touched and committed durably before the answer is returned; whatever
// happens in between, the charge stays.
//
// A refusal is a *Refusal and costs nothing. ErrUnavailable stands for every
// failure that could depend on the data.
func (db *Database) Query(ctx context.Context, sql string, o *QueryOptions) (*Answer, error) {
	if err := db.asker(o); err != nil {
		return nil, err
	}
	s, err := db.plan(ctx, sql, o)
	if err != nil {
		return nil, err
	}
	if s.planned.pilot != nil {
		return s.answerByPilot(ctx)
	}
	return s.Answer(ctx, Payer{})
}

// A Payer says under whose rules a statement is charged. The zero value has none but the
// domain's budget.
type Payer struct {
	// Holders are those whose quotas and limits hold: see ledger.Request.
	Holders []string
	// Rules is the last record at which the rules were looked at; 0: they were not.
	Rules int64
	// Catalog is the digest of the catalog, which an approval binds.
	Catalog []byte
	// Measured is called, if it is not nil, when private data have been read, or could not be,
	// and before that shows anywhere: in the ledger, or to the asker. It may wait.
	Measured func()
	// Suspend makes durable that whoever asks is charged no more until the owner says so, where
	// the domain's catalog lets a failure suspend the account: see catalog.SuspendAccount. The
	// domain is suspended if it is nil, or fails.
	Suspend func(ctx context.Context, reservation int64) error
	// Part is called, if it is not nil, when a part of the way to an answer begins, and what it
	// returns when it ends: "reserve", "measure", "commit".
	Part func(name string) (end func())
}

func (p Payer) part(name string) (end func()) {
	if p.Part == nil {
		return func() {}
	}
	return p.Part(name)
}

// A Statement is one that can be answered: all that can be refused without the budget
// has been. It holds no right and no charge.
type Statement struct {
	db          *Database
	options     QueryOptions
	planned     *statement
	compiled    *compiled
	certificate json.RawMessage // for the ledger
	parameters  json.RawMessage
	fingerprint Fingerprint
	question    []byte      // nil where no other answer may serve
	kept        *keptTables // of a pilot: see answerByPilot

	read atomic.Pointer[readAnswer] // the stored answer that was read last
}

// readAnswer is a stored answer and what it says.
type readAnswer struct {
	stored []byte
	answer Answer
}

// Prepare plans a statement, up to the point where its charge would be reserved. It
// costs nothing and touches no private data. A refusal is a *Refusal. A statement whose accuracy
// needs a pilot is refused, since it is charged twice: Query answers it.
func (db *Database) Prepare(ctx context.Context, sql string, o *QueryOptions) (*Statement, error) {
	if err := db.asker(o); err != nil {
		return nil, err
	}
	s, err := db.plan(ctx, sql, o)
	if err == nil && s.planned.pilot != nil {
		err = refusal(in(s.planned.pilot.twice(), sql))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (db *Database) plan(ctx context.Context, sql string, o *QueryOptions) (*Statement, error) {
	if o == nil {
		o = &QueryOptions{}
	}
	planned, err := db.prepare(sql, o)
	if err != nil {
		return nil, refusal(err)
	}
	if db.config.Engine == nil {
		return nil, errors.New("query: the database has no engine")
	}
	if err := db.config.Catalog.Recheck(); err != nil {
		return nil, refusal(err)
	}
	s := &Statement{db: db, options: *o, planned: planned}
	if s.compiled, err = db.compile(ctx, planned); err != nil {
		return nil, refusal(err)
	}
	if err := db.plannable(ctx, planned, s.compiled); err != nil {
		return nil, refusal(err)
	}
	return db.finish(s)
}

// finish says for the ledger what a statement is.
func (db *Database) finish(s *Statement) (_ *Statement, err error) {
	record := s.planned.record(s.compiled)
	if s.certificate, err = json.Marshal(record); err != nil {
		return nil, fmt.Errorf("encode certificate: %w", err)
	}
	if s.parameters, err = db.parameters(s.planned, &s.options); err != nil {
		return nil, err
	}
	if s.fingerprint, err = s.planned.fingerprint(record, s.compiled); err != nil {
		return nil, err
	}
	if d := s.planned.certificate.Domain; d != nil && s.options.Reuse {
		s.question, err = s.planned.question(record, s.compiled, db.guards[d.ID])
	}
	return s, err
}

// Domain is the id of the unit domain that pays; empty where nothing is charged.
func (s *Statement) Domain() string {
	if len(s.planned.design.Events) == 0 {
		return ""
	}
	return s.planned.certificate.Domain.ID
}

// Cost is what the answer will be charged, as of a charge alone.
func (s *Statement) Cost() (Cost, error) {
	c, err := s.planned.cost()
	if err != nil {
		return Cost{}, refusal(err)
	}
	return c, nil
}

// Certificate is what the ledger will keep of the statement, as JSON.
func (s *Statement) Certificate() json.RawMessage { return s.certificate }

// Canonical is the statement as it was understood: its plan, in which names are resolved
// and parameters are constants.
func (s *Statement) Canonical() string { return plan.Format(s.planned.bound) }

// Fingerprint identifies what is asked.
func (s *Statement) Fingerprint() Fingerprint { return s.fingerprint }

// Request is what the ledger is asked to reserve.
func (s *Statement) Request(by Payer) ledger.Request {
	db, planned, o := s.db, s.planned, s.options
	domain := planned.certificate.Domain
	r := ledger.Request{
		Domain: domain.ID, Guard: db.guards[domain.ID], Analyst: o.Analyst, Statement: planned.text, Parameters: s.parameters,
		Certificate: s.certificate, Events: planned.design.Events, Delta: planned.design.Delta,
		IdempotencyKey: o.IdempotencyKey, RefuseUnfinished: o.RefuseUnfinished, Fresh: o.Fresh,
		Holders: by.Holders, Rules: by.Rules, Catalog: by.Catalog, Now: db.config.Now(),
	}
	if o.Repeat {
		r.Repetition = s.fingerprint[:]
	}
	if s.question != nil {
		r.Question, r.Serves = s.question, s.serves
	}
	return r
}

// Answer charges and answers the statement, as Query does.
func (s *Statement) Answer(ctx context.Context, by Payer) (*Answer, error) {
	db, planned, o := s.db, s.planned, s.options
	if len(planned.design.Events) == 0 { // public values alone: nothing to charge
		a, err := db.measure(ctx, planned, s.compiled)
		if errors.Is(err, engine.ErrTooLarge) {
			return nil, tooLarge(boundedBytes+"; nothing was charged",
				"ask for fewer rows or columns, or for a page at a time: ORDER BY a key with LIMIT, then WHERE it is beyond the last that you have")
		}
		if err != nil {
			return nil, db.unavailable(err)
		}
		a.Cost = planned.charged(filter.Amounts{})
		return a, db.left(ctx, planned, a)
	}
	if db.config.Ledger == nil {
		return nil, errors.New("query: the database has no ledger")
	}
	domain := planned.certificate.Domain
	request := s.Request(by)
	if request.Repetition != nil && !o.Fresh && o.IdempotencyKey == "" {
		stored, err := db.config.Ledger.Repeated(ctx, o.Analyst, domain.ID, request.Repetition)
		if err != nil {
			return nil, refusal(err)
		}
		if stored != nil {
			a, err := s.reuse(ctx, stored, "this is the stored answer of the same statement; nothing was charged again")
			if err != nil {
				return nil, err
			}
			return a, db.left(ctx, planned, a)
		}
	}
	if err := db.config.Catalog.Recheck(); err != nil { // it may have been prepared long ago
		return nil, refusal(err)
	}
	end := by.part("reserve")
	reservation, err := db.config.Ledger.Reserve(ctx, request)
	end()
	if err != nil {
		return nil, refusal(err)
	}
	if stored := reservation.Answer; stored != nil {
		if reservation.Served {
			a, err := s.served(ctx, stored)
			if err != nil {
				return nil, err
			}
			a.Remaining = remaining(filter.Measure(domain.Measure), reservation.Remaining)
			return a, nil
		}
		why := "this is the stored answer of the idempotency key; nothing was charged again"
		if o.IdempotencyKey == "" {
			why = "this is the stored answer of the same statement; nothing was charged again"
		}
		a, err := s.reuse(ctx, stored, why)
		if err != nil {
			return nil, err
		}
		a.Remaining = remaining(filter.Measure(domain.Measure), reservation.Remaining)
		return a, nil
	}
	end = by.part("measure")
	var a *Answer
	tables, err := db.release(ctx, planned, s.compiled, s.kept)
	if err == nil {
		a, err = db.answer(ctx, planned, s.compiled, tables)
	}
	end()
	if by.Measured != nil {
		by.Measured()
	}
	var stored any
	switch {
	case errors.Is(err, engine.ErrTooLarge):
		stored = s.withhold(tables, planned.charged(reservation.Charge))
	case err != nil:
		db.suspend(planned, reservation, by, err)
		return nil, db.unavailable(err)
	default:
		a.Cost = planned.charged(reservation.Charge)
		a.Remaining = remaining(filter.Measure(domain.Measure), reservation.Remaining)
		stored = a
	}
	encoded, err := json.Marshal(stored)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	end = by.part("commit")
	err = db.config.Ledger.Commit(ctx, reservation, encoded)
	end()
	if err != nil {
		return nil, fmt.Errorf("commit answer: %w", err)
	}
	if a == nil {
		if tables == nil {
			return nil, withheldStage()
		}
		return nil, withheldAnswer()
	}
	return a, nil
}

// reuse reads a stored answer, which was paid for before.
func (s *Statement) reuse(ctx context.Context, stored []byte, why string) (*Answer, error) {
	if isWithheld(stored) {
		return s.answerWithheld(ctx, stored, why)
	}
	read := s.read.Load()
	if read == nil || !bytes.Equal(read.stored, stored) {
		read = &readAnswer{stored: stored}
		if err := json.Unmarshal(stored, &read.answer); err != nil {
			return nil, err
		}
		s.read.Store(read)
	}
	if !slices.EqualFunc(read.answer.Columns, s.planned.columns(), func(a, b Column) bool { return a.Name == b.Name && a.Type == b.Type }) {
		return nil, refusal(ledger.ErrIdempotencyKey) // by a catalog that has changed; whoever asks was told of these columns
	}
	a := read.answer
	a.Rows, a.Intervals = cloned(a.Rows), cloned(a.Intervals) // whoever gets them may change them
	for _, row := range a.Intervals {
		for i, interval := range row {
			if interval != nil {
				row[i] = &Interval{interval.Lower, interval.Upper}
			}
		}
	}
	a.Reused, a.Statement, a.Notes = true, s.planned.text, append(slices.Clip(a.Notes), why)
	return &a, nil
}

func cloned[T any](rows [][]T) [][]T {
	out := slices.Clone(rows)
	for i, row := range rows {
		out[i] = slices.Clone(row)
	}
	return out
}

// A record is what the ledger keeps of a statement's certificate: also the bounds and
// the public domains that it was served with. Those are no promise of the catalog's, and
// may change from one statement to the next.
type record struct {
	Certificate
	Mechanisms []Mechanism    `json:"mechanisms"`
	Domains    []publicDomain `json:"public_domains,omitempty"`
}

// A publicDomain is a key's complete list of values, as it was when it served.
type publicDomain struct {
	Key    string `json:"key"`
	Values int    `json:"values"`
	Digest []byte `json:"digest"` // SHA-256 of the values in their order
}

func (s *statement) record(c *compiled) record {
	r := record{Certificate: s.describe(c), Mechanisms: s.mechanisms()}
	for i, release := range s.certificate.Releases {
		for j, values := range c.domains[i] {
			d := publicDomain{release.Keys[j].Name, len(values), digestValues(values)}
			if numbered := release.Keys[j].Numbered; numbered != nil { // what is numbered
				d.Digest = digestValues(slices.Concat(c.known[numbered.Index]...))
			}
			r.Domains = append(r.Domains, d)
		}
	}
	return r
}

func digestValues(values []sqltype.Value) []byte {
	h := sha256.New()
	for _, v := range values {
		fmt.Fprintf(h, "%q\n", sqltype.Key(v))
	}
	return h.Sum(nil)
}

// left says what remains of the domain's budget where nothing was charged.
func (db *Database) left(ctx context.Context, s *statement, a *Answer) error {
	d := s.certificate.Domain
	if d == nil || db.config.Ledger == nil {
		return nil
	}
	b, err := db.config.Ledger.Balance(ctx, d.ID)
	if err != nil {
		return fmt.Errorf("read balance: %w", err)
	}
	a.Remaining = remaining(filter.Measure(d.Measure), b.Remaining)
	return nil
}

// A compiled statement has its engine queries and its public domains: all that
// can be refused has been.
type compiled struct {
	queries []engine.Query      // without SQL where a release has trees alone
	trees   [][]engine.Query    // the leaves of each release's trees
	domains [][][]sqltype.Value // by release and key
	// bounding are the domains of the keys that bound, by release: domains are some of them.
	bounding [][][]sqltype.Value
	stages   []stage
	known    render.Stages // those that are public
	post     string        // empty if the post-processing only picks columns
	pick     []int         // then: the columns of the one released table
	public   []string      // tables that the post-processing reads
}

// reads are the tables that the releases read.
func (c *compiled) reads() (tables []string) {
	for _, q := range slices.Concat(append(slices.Clone(c.trees), c.queries)...) {
		for _, t := range q.Tables {
			if !slices.Contains(tables, t) {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// dialect is that of the engine, or, where none is open, of the one that the catalog names.
func (db *Database) dialect() render.Dialect {
	if db.config.Engine != nil {
		return render.Dialect(db.config.Engine.Dialect())
	}
	return render.Dialect(db.config.Catalog.Engine.Kind)
}

func (db *Database) compile(ctx context.Context, s *statement) (*compiled, error) {
	c, dialect := &compiled{known: render.Stages{}}, db.dialect()
	if err := db.numberStages(ctx, s, c); err != nil {
		return nil, in(err, s.text)
	}
	values := 0
	for number, r := range s.certificate.Releases {
		bounding, err := db.publicValues(ctx, r, c.known)
		if err != nil {
			return nil, in(err, s.text)
		}
		domains := r.Displayed(bounding)
		cells := 0 // per group: at most 200 components, of trees their nodes; and then at most MaxCells combinations
		for i, comp := range r.Components {
			cells++
			if comp.Kind == stability.Tree {
				shape := s.design.Releases[number].Noise[i].Shape
				cells += shape.Levels * shape.Branching
			}
		}
		cells = max(1, cells)
		for _, d := range domains {
			cells *= len(d)
		}
		if values += cells; values > release.MaxValues {
			return nil, in(diagnostic.New("D051", r.Span, "the answer would have more than %d noisy values", release.MaxValues).
				Because("every combination of the keys' public domains is published, empty or not, with each aggregate").
				Try("group by fewer or coarser keys, or ask for fewer aggregates in one statement"), s.text)
		}
		var query engine.Query
		if rewrite.Summed(r) {
			if query, err = dialect.Release(rewrite.Release(r, bounding)); err != nil {
				return nil, in(fmt.Errorf("render release: %w", err), s.text)
			}
		}
		var trees []engine.Query
		for _, b := range rewrite.Trees(r, bounding) {
			tree, err := dialect.Release(b)
			if err != nil {
				return nil, in(fmt.Errorf("render release: %w", err), s.text)
			}
			trees = append(trees, tree)
		}
		c.queries, c.trees, c.domains = append(c.queries, query), append(c.trees, trees), append(c.domains, domains)
		c.bounding = append(c.bounding, bounding)
		if below := stability.StagesOf(r.Input); slices.ContainsFunc(below, c.isKnown) {
			switch _, _, err := db.over(s, c, number, c.known); {
			case errors.Is(err, engine.ErrTooLarge):
				return nil, in(manyNamed(s.certificate.Stages[below[0]].Plan, "texts that are too long together"), s.text)
			case err != nil:
				return nil, in(err, s.text)
			}
		}
	}
	if err := c.refuseStages(s.certificate); err != nil {
		return nil, in(err, s.text)
	}
	var ok bool
	if c.pick, ok = picks(s.post.Plan); ok && len(s.certificate.Releases) == 1 {
		return c, nil
	}
	var err error
	if c.post, err = render.Relation(s.post.Plan); err != nil { // in a scratch instance
		return nil, fmt.Errorf("render post-processing: %w", err)
	}
	c.public = scans(s.post.Plan, nil)
	return c, nil
}

// plannable refuses what the engine cannot plan, before anything is charged.
// Where it cannot tell, or fails at telling, nothing is decided here: the charge
// comes first, and running the statement shows it.
func (db *Database) plannable(ctx context.Context, s *statement, c *compiled) error {
	e, ok := db.config.Engine.(engine.Preparer)
	if !ok {
		return nil
	}
	prepare := e.Prepare
	try := func(sql string, tables []engine.Table) error {
		err := prepare(ctx, sql, tables)
		var d *diagnostic.Diagnostic
		switch {
		case errors.As(err, &d): // a source that cannot be opened
			return d
		case errors.Is(err, engine.ErrPlan):
			return in(diagnostic.New("D103", diagnostic.Span{}, "the engine cannot plan this statement").
				Because("the SQL that it would have to run is too deep for it, or it lacks something that the SQL uses; nothing was charged").
				Try("compute it in fewer or simpler steps; discreet explain --sql shows the engine's").By(diagnostic.AskSimpler), s.text)
		}
		return nil
	}
	for _, q := range slices.Concat(append(slices.Clone(c.trees), c.queries)...) {
		if q.SQL == "" {
			continue
		}
		if err := try(q.SQL, db.tables(q.Tables)); err != nil {
			return err
		}
	}
	prepare = func(ctx context.Context, sql string, tables []engine.Table) error {
		return engine.PreparePost(ctx, db.config.Engine, sql, tables)
	}
	for i, stage := range c.stages {
		if err := try(stage.sql, append(released(s.certificate.Stages[i].Plan, nil), db.tables(stage.public)...)); err != nil {
			return err
		}
	}
	if c.post == "" {
		return nil
	}
	return try(c.post, append(released(s.post.Plan, nil), db.tables(c.public)...))
}

// tables describes tables of the catalog.
func (db *Database) tables(names []string) []engine.Table {
	var all []engine.Table
	for _, name := range names {
		t, ok := db.config.Catalog.Table(name)
		if !ok {
			continue
		}
		described := engine.Table{Name: t.Name}
		for _, c := range t.Columns {
			described.Columns = append(described.Columns, engine.Column{Name: c.Name, Type: c.Type})
		}
		all = append(all, described)
	}
	return all
}

// released describes the released tables and stages that n reads in a scratch instance, each once.
func released(n plan.Node, seen []engine.Table) []engine.Table {
	var t engine.Table
	switch n := n.(type) {
	case *plan.Released:
		t = engine.Table{Name: render.ReleasedName(n.Index), Columns: unnamed(n.Cols)}
	case *plan.Stage:
		t = engine.Table{Name: render.StageName(n.Index), Columns: unnamed(n.Cols)}
	}
	if t.Name != "" && !slices.ContainsFunc(seen, func(known engine.Table) bool { return known.Name == t.Name }) {
		seen = append(seen, t)
	}
	for _, in := range n.Inputs() {
		seen = released(in, seen)
	}
	return seen
}

// picks reports whether n only picks columns of one released table, and which.
func picks(n plan.Node) ([]int, bool) {
	switch n := n.(type) {
	case *plan.Released:
		all := make([]int, len(n.Cols))
		for i := range all {
			all[i] = i
		}
		return all, true
	case *plan.Project:
		below, ok := picks(n.Input)
		if !ok {
			return nil, false
		}
		picked := make([]int, len(n.Exprs))
		for i, e := range n.Exprs {
			ref, ok := e.(*plan.Ref)
			if !ok {
				return nil, false
			}
			picked[i] = below[ref.Index]
		}
		return picked, true
	}
	return nil, false
}

// scans lists the tables, public ones, that n reads.
func scans(n plan.Node, seen []string) []string {
	if s, ok := n.(*plan.Scan); ok {
		for _, name := range seen {
			if name == s.Table.Name {
				return seen
			}
		}
		return append(seen, s.Table.Name)
	}
	for _, in := range n.Inputs() {
		seen = scans(in, seen)
	}
	return seen
}

// measure runs the releases and their noise, and the post-processing.
func (db *Database) measure(ctx context.Context, s *statement, c *compiled) (*Answer, error) {
	tables, err := db.release(ctx, s, c, nil)
	if err != nil {
		return nil, err
	}
	return db.answer(ctx, s, c, tables)
}

// A releasedTable is what the post-processing reads of a release.
type releasedTable struct {
	columns []engine.Column
	rows    [][]sqltype.Value
}

// setSalts are the salts of grouping sets: each unit keeps the same groups and rows at all sets
// of a SELECT, so that what they say adds up.
type setSalts map[*plan.Sets]int64

// of is the salt of a release, for which one was drawn.
func (s setSalts) of(r *stability.Release, drawn int64) int64 {
	if r.Sets == nil {
		return drawn
	}
	if _, ok := s[r.Sets]; !ok {
		s[r.Sets] = drawn
	}
	return s[r.Sets]
}

// release runs the releases and their noise, all over one state of the data. What is kept of a
// pilot's is kept, if anything is.
func (db *Database) release(ctx context.Context, s *statement, c *compiled, keep *keptTables) (_ []releasedTable, err error) {
	bits := entropy.New()
	published, salts := make([]*release.Table, len(c.queries)), setSalts{}
	data := engine.Current(db.config.Engine)
	if s.asks(c) > 1 {
		if data, err = engine.Fixed(ctx, db.config.Engine, c.reads()); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	stages := maps.Clone(c.known)
	for i, q := range c.queries {
		trees := c.trees[i]
		if below := stability.StagesOf(s.certificate.Releases[i].Input); len(below) > 0 {
			if err := db.fillStages(ctx, s, c, below, published[:i], stages); err != nil {
				return nil, err
			}
			if q, trees, err = db.over(s, c, i, stages); err != nil {
				return nil, err
			}
		}
		salt, err := bits.Uint64()
		if err != nil {
			return nil, err
		}
		q.Salt = salts.of(s.certificate.Releases[i], keep.salt(i, int64(salt>>1)))
		exact := engine.NewExact(nil) // enough where nothing but the public domain is asked
		if s.needs(i, q) {
			if exact, err = data.Exact(ctx, q); err != nil {
				return nil, err
			}
		}
		leaves := make([]*engine.Exact, len(trees))
		for j, tree := range trees {
			tree.Salt = q.Salt // the same groups are kept of each unit
			if leaves[j], err = data.Exact(ctx, tree); err != nil {
				return nil, err
			}
		}
		if published[i], err = s.design.Releases[i].Publish(exact, c.domains[i], bits, leaves...); err != nil {
			return nil, err
		}
		keep.table(published[i])
	}
	return s.tables(published)
}

// needs reports whether a release needs what its query finds: not where it has none, or nothing but the
// public domain is asked.
func (s *statement) needs(i int, q engine.Query) bool {
	r := s.design.Releases[i]
	return q.SQL != "" && (r.Private || len(r.Components) > 0)
}

// asks is how many queries the engine is asked.
func (s *statement) asks(c *compiled) (n int) {
	for i, q := range c.queries {
		if n += len(c.trees[i]); s.needs(i, q) {
			n++
		}
	}
	return n
}

// tables are the released tables with the intervals that post-processing needs.
func (s *statement) tables(published []*release.Table) ([]releasedTable, error) {
	sizes := make([]int, len(published))
	for i, t := range published {
		sizes[i] = t.Len()
	}
	if s.consistent { // as the intervals of s.post assume
		release.Consistent(published)
	}
	tables := make([]releasedTable, len(published))
	for i, t := range published {
		var err error
		if tables[i].columns, tables[i].rows, err = t.Rows(s.confidence, s.post.Divided(sizes), s.post.Sums(i)...); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// answer computes the post-processing over released and public tables.
func (db *Database) answer(ctx context.Context, s *statement, c *compiled, tables []releasedTable) (*Answer, error) {
	rows, err := db.postProcess(ctx, s, c, tables)
	if err != nil {
		return nil, err
	}
	confidence, _ := s.confidence.Float64()
	a := &Answer{Columns: s.columns(), Rows: make([][]sqltype.Value, len(rows)), Intervals: make([][]*Interval, len(rows)),
		Confidence: confidence, Mechanisms: s.mechanisms(), Kept: s.post.Kept, Notes: s.notes(), Statement: s.text}
	for i, row := range rows {
		a.Rows[i] = row[:s.post.Width:s.post.Width]
		a.Intervals[i] = make([]*Interval, s.post.Width)
		for j, col := range s.post.Columns {
			if col.Lower >= 0 && row[j] != nil && row[col.Lower] != nil && row[col.Upper] != nil {
				a.Intervals[i][j] = &Interval{row[col.Lower], row[col.Upper]}
			}
		}
	}
	a.Notes = append(append(a.Notes, db.moving(c)...), a.unbounded()...)
	return a, nil
}

// moving notes the tables that several queries have read, each perhaps in another state.
func (db *Database) moving(c *compiled) (notes []string) {
	u, ok := db.config.Engine.(engine.Unsteady)
	if !ok {
		return nil
	}
	for _, name := range u.Moving(c.reads()) {
		queries := 0
		for _, q := range slices.Concat(append(slices.Clone(c.trees), c.queries)...) {
			if q.SQL != "" && slices.Contains(q.Tables, name) {
				queries++
			}
		}
		if queries > 1 {
			notes = append(notes, fmt.Sprintf("%s: its %d queries may have seen different states of it: the engine has no snapshots of this table", name, queries))
		}
	}
	return notes
}

func (db *Database) postProcess(ctx context.Context, s *statement, c *compiled, tables []releasedTable) (_ [][]sqltype.Value, err error) {
	if c.post == "" {
		rows := tables[0].rows
		for i, row := range rows {
			picked := make([]sqltype.Value, len(c.pick))
			for j, at := range c.pick {
				picked[j] = row[at]
			}
			rows[i] = picked
		}
		return rows, nil
	}
	scratch, err := db.config.Engine.Scratch(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scratch.Close()) }()
	for i, t := range tables {
		if err := scratch.Load(ctx, render.ReleasedName(i), render.ReleasedColumns(t.columns), t.rows); err != nil {
			return nil, err
		}
	}
	if err := c.load(ctx, scratch, s.post.Plan); err != nil {
		return nil, err
	}
	if err := db.loadPublic(ctx, scratch, c.public); err != nil {
		return nil, err
	}
	var types []sqltype.Type
	for _, col := range s.post.Plan.Columns() {
		types = append(types, col.Type)
	}
	return scratch.Query(ctx, c.post, types)
}

// suspend records a failure for the owner and stops the domain, or the account
// where the catalog says so, unless the caller gave up: when to give up is the
// caller's choice, not the data's.
func (db *Database) suspend(s *statement, r *ledger.Reservation, by Payer, cause error) {
	if errors.Is(cause, context.Canceled) {
		return
	}
	// The caller's context may be over; the record must be made all the same.
	ctx := context.Background()
	if s.certificate.Domain.FailureSuspends == catalog.SuspendAccount && by.Suspend != nil {
		err := by.Suspend(ctx, r.ID)
		if err == nil {
			return
		}
		db.config.OwnerLog.Error("suspend account", "domain", s.certificate.Domain.ID, "error", err)
	}
	if err := db.config.Ledger.Suspend(ctx, s.certificate.Domain.ID, r.ID, "an answer could not be computed", db.config.Now()); err != nil {
		db.config.OwnerLog.Error("suspend domain", "domain", s.certificate.Domain.ID, "error", err)
	}
}

// unavailable hides a cause from the analyst and shows it to the owner.
func (db *Database) unavailable(cause error) error {
	var f *engine.Failure
	if errors.As(cause, &f) {
		cause = f.Cause()
	}
	db.config.OwnerLog.Error("answer not computed", "cause", cause)
	return ErrUnavailable
}
