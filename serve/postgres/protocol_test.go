package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

func parse(name, sql string, oids ...uint32) pgproto3.FrontendMessage {
	return &pgproto3.Parse{Name: name, Query: sql, ParameterOIDs: oids}
}

func bind(portal, statement string, parameters ...[]byte) pgproto3.FrontendMessage {
	return &pgproto3.Bind{DestinationPortal: portal, PreparedStatement: statement, Parameters: parameters}
}

func execute(portal string, rows uint32) pgproto3.FrontendMessage {
	return &pgproto3.Execute{Portal: portal, MaxRows: rows}
}

func query(sql string) pgproto3.FrontendMessage { return &pgproto3.Query{String: sql} }

// TestConversations holds what the server says against PostgreSQL's protocol: of every series of
// messages up to a ReadyForQuery, a letter for each answer.
func TestConversations(t *testing.T) {
	sync := &pgproto3.Sync{}
	describe := func(kind byte, name string) pgproto3.FrontendMessage {
		return &pgproto3.Describe{ObjectType: kind, Name: name}
	}
	shut := func(kind byte, name string) pgproto3.FrontendMessage {
		return &pgproto3.Close{ObjectType: kind, Name: name}
	}
	type turn struct {
		say  []pgproto3.FrontendMessage
		want string
	}
	say := func(want string, all ...pgproto3.FrontendMessage) turn { return turn{all, want} }
	for name, turns := range map[string][]turn{
		"simple": {
			say("I Z(I)", query("")), say("I Z(I)", query(" ; -- nothing")),
			say("T D(row 0) C(SELECT 1) Z(I)", query("SELECT 'x'")),
			say("T D(row 0) C(SELECT 1) T D(row 0) C(SELECT 1) Z(I)", query("SELECT 'x'; SELECT 'y'")),
			say("E(42601) Z(I)", query("SELECT 'x'; SELEC")), // nothing of it runs
			say("T D(row 0) C(SELECT 1) E(58000) Z(I)", query("SELECT 'x'; INSERT INTO t VALUES (1); SELECT 'y'")),
		},
		"transactions": {
			say("C(BEGIN) Z(T)", query("BEGIN")), say("T D(row 0) C(SELECT 1) Z(T)", query("SELECT 'x'")),
			say("E(42601) Z(E)", query("oops")), say("E(25P02) Z(E)", query("SELECT 'x'")), say("E(25P02) Z(E)", query("SET a.b = 1")),
			say("C(ROLLBACK) Z(I)", query("COMMIT")), say("N(25P01) C(COMMIT) Z(I)", query("COMMIT")), say("N(25P01) C(ROLLBACK) Z(I)", query("ROLLBACK")),
			say("C(BEGIN) Z(T)", query("BEGIN")), say("N(25001) C(BEGIN) Z(T)", query("BEGIN")), say("C(SAVEPOINT) Z(T)", query("SAVEPOINT a")),
			say("E(42601) Z(E)", query("oops")), say("C(ROLLBACK) Z(T)", query("ROLLBACK TO a")), say("E(3B001) Z(E)", query("RELEASE b")),
			say("C(ROLLBACK) Z(T)", query("ROLLBACK AND CHAIN")), say("C(COMMIT) Z(I)", query("END")), say("E(25P01) Z(I)", query("SAVEPOINT a")),
		},
		"a failed series takes back what it set": {
			say("C(SET) Z(I)", query("SET a.b = 1")), say("C(SET) E(58000) Z(I)", query("SET a.b = 2; INSERT INTO t VALUES (1)")),
			say("T D(1) C(SHOW) Z(I)", query("SHOW a.b")),
			say("1 2 C(SET) E(34000) Z(I)", parse("", "SET a.b = 3"), bind("", ""), execute("", 0), execute("none", 0), sync),
			say("T D(1) C(SHOW) Z(I)", query("SHOW a.b")),
			say("N(25P01) C(SET) C(SET) Z(I)", query("SET LOCAL a.b = 4; SET c.d = 1")), say("T D(1) C(SHOW) Z(I)", query("SHOW a.b")),
		},
		"extended": {
			say("1 2 T D(row 0) C(SELECT 1) Z(I)", parse("", "SELECT 'x'"), bind("", ""), describe('P', ""), execute("", 0), sync),
			say("1 t[] T Z(I)", parse("s", "SELECT 'x'"), describe('S', "s"), sync),
			say("E(42P05) Z(I)", parse("s", "SELECT 'x'"), sync),
			say("2 D(row 0) C(SELECT 1) 2 D(row 0) C(SELECT 1) Z(I)", bind("", "s"), execute("", 0), bind("", "s"), execute("", 0), sync),
			say("3 3 Z(I)", shut('S', "s"), shut('P', "none"), sync),
			say("E(26000) Z(I)", bind("", "s"), execute("", 0), sync),
			say("E(34000) Z(I)", execute("none", 0), sync), say("E(34000) Z(I)", describe('P', "none"), sync), say("E(26000) Z(I)", describe('S', "none"), sync),
			say("E(42601) Z(I)", parse("", "SELECT 'x'; SELECT 'y'"), sync),
			say("1 2 I Z(I)", parse("", ""), bind("", ""), execute("", 0), sync),
			say("1 2 n C(SET) Z(I)", parse("", "SET a.b = 1"), bind("", ""), describe('P', ""), execute("", 0), sync),
			say("1 2 C(SET) E(55000) Z(I)", parse("", "SET a.b = 1"), bind("", ""), execute("", 0), execute("", 0), sync),
			say("1 2 T D(1) C(SHOW) Z(I)", parse("", "SHOW a.b"), bind("", ""), describe('P', ""), execute("", 0), sync),
		},
		"rows by portions": {
			say("1 2 D(row 0) D(row 1) s D(row 2) C(SELECT 1) C(SELECT 0) Z(I)",
				parse("", "SELECT 'rows 3'"), bind("p", ""), execute("p", 2), execute("p", 2), execute("p", 2), sync),
			say("E(34000) Z(I)", execute("p", 0), sync), // it ended with its transaction
			say("C(BEGIN) Z(T)", query("BEGIN")),
			say("1 2 D(row 0) s Z(T)", parse("", "SELECT 'rows 2'"), bind("p", ""), execute("p", 1), sync),
			say("E(42P03) Z(E)", bind("p", ""), sync),
		},
		"an error skips to Sync": {
			say("1 E(34000) Z(I)", parse("s", "SELECT 'x'"), execute("none", 0), bind("", "s"), execute("", 0), query("SELECT 'y'"), sync),
			say("T D(row 0) C(SELECT 1) Z(I)", query("SELECT 'x'")),
		},
		"parameters": {
			say("1 t[23] T 2 D(null 7) C(SELECT 1) Z(I)", parse("", "SELECT $1"), describe('S', ""), bind("", "", []byte("7")), execute("", 0), sync),
			say("1 t[20] T 2 D(bigint 7) C(SELECT 1) Z(I)", parse("", "SELECT $1", 20), describe('S', ""), bind("", "", []byte("7")), execute("", 0), sync),
			say("1 2 D(bigint 7) C(SELECT 1) Z(I)", parse("", "SELECT $1", 20),
				&pgproto3.Bind{Parameters: [][]byte{{0, 0, 0, 0, 0, 0, 0, 7}}, ParameterFormatCodes: []int16{1}}, execute("", 0), sync),
			say("1 2 D(integer 7) C(SELECT 1) Z(I)", parse("", "SELECT $1"), // the statement knows the type
				&pgproto3.Bind{Parameters: [][]byte{{0, 0, 0, 7}}, ParameterFormatCodes: []int16{1}}, execute("", 0), sync),
			say("1 2 E(22P03) Z(I)", parse("", "SELECT $1", 20),
				&pgproto3.Bind{Parameters: [][]byte{{7}}, ParameterFormatCodes: []int16{1}}, execute("", 0), sync),
			say("1 E(08P01) Z(I)", parse("", "SELECT $1", 20),
				&pgproto3.Bind{Parameters: [][]byte{{7}}, ParameterFormatCodes: []int16{2}}, sync),
			say("1 E(08P01) Z(I)", parse("", "SELECT $1", 20),
				&pgproto3.Bind{Parameters: [][]byte{{7}}, ParameterFormatCodes: []int16{0, 0}}, sync),
			say("1 2 E(08P01) Z(I)", parse("", "SELECT 'x'"), &pgproto3.Bind{ResultFormatCodes: []int16{0, 1}}, execute("", 0), sync),
		},
		"cursors": {
			say("E(25P01) Z(I)", query("DECLARE c CURSOR FOR SELECT 'x'")),
			say("C(BEGIN) C(DECLARE CURSOR) Z(T)", query("BEGIN; DECLARE c CURSOR FOR SELECT 'rows 4'")),
			say("T Z(T)", describe('P', "c"), sync),
			say("T D(row 0) D(row 1) C(FETCH 2) T D(row 0) C(FETCH 1) T D(row 3) C(FETCH 1) T C(FETCH 0) Z(T)", query("FETCH 2 c; FETCH PRIOR c; FETCH LAST c; FETCH NEXT c")),
			say("C(MOVE 4) T D(row 0) C(FETCH 1) T D(row 2) C(FETCH 1) T D(row 1) D(row 0) C(FETCH 2) C(CLOSE CURSOR) Z(T)",
				query("MOVE BACKWARD ALL c; FETCH c; FETCH RELATIVE 2 c; FETCH BACKWARD 5 c; CLOSE c")),
			say("E(34000) Z(E)", query("FETCH c")), say("C(ROLLBACK) Z(I)", query("ROLLBACK")),
			say("C(DECLARE CURSOR) Z(I)", query("DECLARE h CURSOR WITH HOLD FOR SELECT 'x'")), say("T D(row 0) C(FETCH 1) Z(I)", query("FETCH ALL h")),
			say("C(BEGIN) C(DECLARE CURSOR) T D(row 0) C(FETCH 1) E(55000) Z(E)", query("BEGIN; DECLARE n NO SCROLL CURSOR FOR SELECT 'rows 2'; FETCH n; FETCH PRIOR n")),
		},
		"copy": {
			say("H d d c C(COPY 2) Z(I)", query("COPY (SELECT 'rows 2') TO STDOUT")),
			say("1 2 n H d d d c C(COPY 2) Z(I)", parse("", "COPY (SELECT 'rows 2') TO STDOUT (FORMAT csv, HEADER)"), bind("", ""), describe('P', ""), execute("", 0), sync),
			say("H d d c C(COPY 1) Z(I)", query("COPY (SELECT 'x') TO STDOUT (FORMAT binary)")),
			say("E(42601) Z(I)", query("COPY (SELECT 'x') TO STDOUT (COLOUR red)")), say("E(22023) Z(I)", query("COPY (SELECT 'x') TO STDOUT (DELIMITER 'ab')")),
			say("T D(row 0) C(SELECT 1) Z(I)", &pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, &pgproto3.CopyFail{}, query("SELECT 'x'")),
		},
		"statements by SQL": {
			say("C(PREPARE) T D(integer 7) C(SELECT 1) C(DEALLOCATE) E(26000) Z(I)", query("PREPARE p (int) AS SELECT $1; EXECUTE p (7); DEALLOCATE p; EXECUTE p (7)")),
			say("E(42704) Z(I)", query("PREPARE p (nothing) AS SELECT $1")),
			say("C(DEALLOCATE ALL) C(DISCARD ALL) C(DISCARD PLANS) C(UNLISTEN) Z(I)", query("DEALLOCATE ALL; DISCARD ALL; DISCARD PLANS; UNLISTEN *")),
			say("C(BEGIN) E(25001) Z(E)", query("BEGIN; DISCARD ALL")),
		},
		"function call": {say("E(0A000) Z(I)", &pgproto3.FunctionCall{})},
		"reported settings": {
			say("C(SET) S Z(I)", query("SET application_name = 'x'")),
			say("C(BEGIN) C(SET) C(ROLLBACK) Z(I)", query("BEGIN; SET application_name = 'y'; ROLLBACK")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := open(t, nil).signIn(t)
			for _, turn := range turns {
				l.say(turn.say...)
				if got := l.until('Z'); got != turn.want {
					t.Errorf("%v\ngot  %s\nwant %s", turn.say[0], got, turn.want)
				}
			}
		})
	}
}
