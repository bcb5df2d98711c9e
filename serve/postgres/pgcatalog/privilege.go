package pgcatalog

import (
	"fmt"
	"strings"
)

// hasPrivilege says what the account may do with an object: look at it.
func hasPrivilege(q *query, v *invocation, a []any) any {
	if strings.HasSuffix(v.proc.name, "table_privilege") || strings.HasSuffix(v.proc.name, "column_privilege") {
		for i, x := range a[:len(a)-1] {
			if n, ok := x.(int64); ok && v.types[i] == oidOID && (i > 0 || len(a) == 2 || strings.HasPrefix(v.proc.name, "has_column") && len(a) == 3) {
				if _, found := q.rowWhere("pg_class", "oid", n); !found {
					return nil
				}
				break
			}
		}
	}
	asked, _ := a[len(a)-1].(string)
	for p := range strings.SplitSeq(asked, ",") {
		switch strings.ToUpper(strings.TrimSpace(p)) {
		case "SELECT", "USAGE", "CONNECT", "EXECUTE":
			return true
		}
	}
	return false
}

// hasRole says whether the account is in a role: in its own.
func hasRole(q *query, _ *invocation, a []any) any {
	role := a[len(a)-2]
	return role == owner || role == q.session.Account
}

func userByID(q *query, _ *invocation, a []any) any {
	if a[0] == owner {
		return q.session.Account
	}
	return fmt.Sprintf("unknown (OID=%d)", a[0])
}

// aclDefault gives the privileges that an object has where none were granted.
func aclDefault(q *query, _ *invocation, a []any) any {
	who := "unknown"
	if a[1] == owner {
		who = quote(q.session.Account)
	}
	of := map[string][2]string{"r": {"", "arwdDxt"}, "s": {"", "rwU"}, "d": {"Tc", "CTc"}, "f": {"X", "X"}, "l": {"U", "U"}, "L": {"", "rw"}, "n": {"", "UC"},
		"t": {"", "C"}, "F": {"", "U"}, "S": {"", "U"}, "T": {"U", "U"}, "p": {"", "sA"}}
	list := &array{elem: oidACL, lower: 1}
	kind, _ := a[0].(string)
	if everyone := of[kind][0]; everyone != "" {
		list.items = append(list.items, "="+everyone+"/"+who)
	}
	if own := of[kind][1]; own != "" {
		list.items = append(list.items, who+"="+own+"/"+who)
	}
	return list
}
