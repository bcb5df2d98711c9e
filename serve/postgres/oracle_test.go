package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/catalog"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/people"
	"github.com/discreet-dp/discreet/serve/gateway"
	"github.com/discreet-dp/discreet/sqltype"
)

// An oracle is a gateway that knows a few questions, for tests of the protocol: "SELECT 'rows N'"
// has N rows, "SELECT 'wait'" lasts until it is cancelled, "SELECT 'types'" has a column of each
// type. It counts what it is asked.
type oracle struct {
	asked   atomic.Int32
	waiting chan struct{} // one for each question that waits
	ended   chan error    // how it ended
}

func newOracle() *oracle {
	return &oracle{waiting: make(chan struct{}, 100), ended: make(chan error, 100)}
}

func (o *oracle) Query(ctx context.Context, _ gateway.Asker, sql string, options gateway.Options) (*discreet.Answer, error) {
	o.asked.Add(1)
	a := &discreet.Answer{Statement: sql}
	d, err := o.Describe(ctx, gateway.Asker{}, sql, nil, options)
	if err != nil {
		return nil, err
	}
	a.Columns = d.Columns
	if err := options.Admit(a.Columns); err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(sql, "'wait'"):
		o.waiting <- struct{}{}
		<-ctx.Done()
		o.ended <- context.Cause(ctx)
		return nil, ctx.Err()
	case strings.Contains(sql, "'types'"):
		a.Rows = [][]sqltype.Value{everyType, make([]sqltype.Value, len(everyType))}
		a.Intervals = [][]*discreet.Interval{make([]*discreet.Interval, len(everyType)), make([]*discreet.Interval, len(everyType))}
		a.Intervals[0][3] = &discreet.Interval{Lower: int64(1), Upper: int64(2)}
	case strings.Contains(sql, "$1"):
		a.Rows = [][]sqltype.Value{{nil}}
		if t := options.Parameters[0].Text; t != nil {
			a.Rows[0][0] = options.Parameters[0].Type.String() + " " + *t
		}
	default:
		n := 1
		_, _ = fmt.Sscanf(sql, "SELECT 'rows %d'", &n) // else one
		for i := range n {
			a.Rows = append(a.Rows, []sqltype.Value{fmt.Sprint("row ", i)})
		}
	}
	return a, nil
}

var everyKind = []sqltype.Type{
	sqltype.Of(sqltype.Boolean), sqltype.Of(sqltype.Smallint), sqltype.Of(sqltype.Integer), sqltype.Of(sqltype.Bigint),
	sqltype.Of(sqltype.Real), sqltype.Of(sqltype.Double), sqltype.DecimalOf(12, 3), sqltype.Of(sqltype.Text),
	sqltype.Of(sqltype.DateKind), sqltype.Of(sqltype.TimeKind), sqltype.Of(sqltype.TimestampKind), sqltype.Of(sqltype.IntervalKind),
}

var everyType = []sqltype.Value{
	true, int64(-32768), int64(2147483647), int64(-9223372036854775808), float64(float32(0.1)), 1234567.5,
	sqltype.Decimal{Unscaled: big.NewInt(-12345670), Scale: 3}, "a\tü\\", sqltype.Date(-1), sqltype.Time(86_399_500_000),
	sqltype.Timestamp(-1), sqltype.Interval{Months: 14, Days: -3, Micros: 3_600_000_001},
}

func (o *oracle) Explain(_ context.Context, _ gateway.Asker, sql string, _ gateway.Options) (*discreet.Explanation, error) {
	return &discreet.Explanation{Statement: sql}, nil
}

func (o *oracle) Describe(_ context.Context, _ gateway.Asker, sql string, _ []discreet.ParameterType, _ gateway.Options) (*discreet.Description, error) {
	d := &discreet.Description{Columns: []discreet.Column{{Name: "a", Type: sqltype.Of(sqltype.Text)}}}
	switch {
	case !strings.HasPrefix(sql, "SELECT"):
		return nil, errors.New("not a question")
	case strings.Contains(sql, "'types'"):
		d.Columns = nil
		for _, t := range everyKind {
			d.Columns = append(d.Columns, discreet.Column{Name: t.String(), Type: t, Noisy: t.Kind == sqltype.Bigint})
		}
	case strings.Contains(sql, "$1"):
		d.Parameters = []discreet.ParameterType{{Type: sqltype.Of(sqltype.Integer)}}
	}
	return d, nil
}

func (*oracle) Catalog(gateway.Asker) *catalog.Catalog                          { return nil }
func (*oracle) Look(context.Context, gateway.Asker) (func(), error)             { return func() {}, nil }
func (*oracle) Budget(context.Context, gateway.Asker) ([]ledger.Balance, error) { return nil, nil }
func (*oracle) History(context.Context, gateway.Asker, ledger.Selection) ([]ledger.Entry, error) {
	return nil, nil
}

// nothing is a catalog of nothing: every question goes to the oracle.
type nothing struct{ Catalog }

func (nothing) Answers(string) bool { return false }

// everybody has the password "secret".
type everybody struct{}

func (everybody) Scram(_ context.Context, name, _ string, binding *scram.ChannelBinding) (Conversation, error) {
	client, err := scram.SHA256.NewClient("", "secret", "")
	if err != nil {
		return nil, err
	}
	stored, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "sixteen bytes of", Iters: 4096})
	if err != nil {
		return nil, err
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return stored, nil })
	if err != nil {
		return nil, err
	}
	if binding != nil {
		return proof{server.NewConversationWithChannelBinding(*binding), name}, nil
	}
	return proof{server.NewConversation(), name}, nil
}

type proof struct {
	*scram.ServerConversation
	name string
}

func (p proof) Account() (people.Account, error) {
	if !p.Valid() {
		return people.Account{}, people.ErrSignIn
	}
	return people.Account{Name: p.name, Role: people.Analyst}, nil
}

// A booth is a server whose gateway is an oracle. A session that panics fails the test.
type booth struct {
	*oracle
	server  *Server
	address string
	stop    func()
}

type failing struct {
	slog.Handler
	t testing.TB
}

func (f failing) Handle(_ context.Context, r slog.Record) error {
	f.t.Errorf("the server logs: %s", r.Message)
	r.Attrs(func(a slog.Attr) bool { f.t.Log(a); return true })
	return nil
}

func open(t testing.TB, change func(*Options)) *booth {
	t.Helper()
	b := &booth{oracle: newOracle()}
	o := Options{Gateway: b.oracle, Catalog: nothing{}, Accounts: everybody{}, Now: time.Now, Log: slog.New(failing{slog.NewTextHandler(t.Output(), nil), t})}
	if change != nil {
		change(&o)
	}
	var err error
	if b.server, err = New(o); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.address = l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- b.server.Serve(ctx, l) }()
	ended := false
	b.stop = func() {
		if ended {
			return
		}
		ended = true
		stop()
		select {
		case err := <-served:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(30 * time.Second):
			t.Error("the server does not end")
		}
	}
	t.Cleanup(b.stop)
	return b
}

// A line is a raw connection of a client's.
type line struct {
	net.Conn
	*pgproto3.Frontend
	t testing.TB
}

func (b *booth) dial(t testing.TB) *line {
	t.Helper()
	conn, err := net.Dial("tcp", b.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &line{conn, pgproto3.NewFrontend(conn, conn), t}
}

// signIn goes the whole way to the first ReadyForQuery.
func (b *booth) signIn(t testing.TB) *line {
	t.Helper()
	l := b.dial(t)
	l.say(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "anna", "database": "discreet"}})
	l.prove()
	l.until('Z')
	return l
}

// prove holds the conversation of SCRAM.
func (l *line) prove() {
	l.t.Helper()
	client, err := scram.SHA256.NewClient("", "secret", "")
	if err != nil {
		l.t.Fatal(err)
	}
	c := client.NewConversation()
	l.until('R')
	first, err := c.Step("")
	if err != nil {
		l.t.Fatal(err)
	}
	l.say(&pgproto3.SASLInitialResponse{AuthMechanism: plain, Data: []byte(first)})
	m, ok := l.receive().(*pgproto3.AuthenticationSASLContinue)
	if !ok {
		l.t.Fatal("no challenge")
	}
	final, err := c.Step(string(m.Data))
	if err != nil {
		l.t.Fatal(err)
	}
	l.say(&pgproto3.SASLResponse{Data: []byte(final)})
}

func (l *line) say(all ...pgproto3.FrontendMessage) {
	l.t.Helper()
	for _, m := range all {
		l.Send(m)
	}
	if err := l.Flush(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *line) receive() pgproto3.BackendMessage {
	l.t.Helper()
	m, err := l.Receive()
	if err != nil {
		l.t.Fatal(err)
	}
	return m
}

// until reads messages to the first of a type, and returns a letter for each, with what
// matters of it.
func (l *line) until(last byte) string {
	l.t.Helper()
	var seen []string
	for {
		m := l.receive()
		encoded, err := m.Encode(nil)
		if err != nil {
			l.t.Fatal(err)
		}
		word := string(encoded[0])
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			word += "(" + m.Code + ")"
		case *pgproto3.NoticeResponse:
			word += "(" + m.Code + ")"
		case *pgproto3.ReadyForQuery:
			word += "(" + string(m.TxStatus) + ")"
		case *pgproto3.CommandComplete:
			word += "(" + string(m.CommandTag) + ")"
		case *pgproto3.ParameterDescription:
			word += fmt.Sprint(m.ParameterOIDs)
		case *pgproto3.DataRow:
			if len(m.Values) == 1 {
				word += "(" + string(m.Values[0]) + ")"
			}
		}
		seen = append(seen, word)
		if encoded[0] == last {
			return strings.Join(seen, " ")
		}
	}
}
