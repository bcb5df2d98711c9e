package ledger

import "fmt"

// A User is the operating system's, in whose name records are written. An analyst's name
// is what somebody says; this is what the system says. A process with the owner's rights
// could record another, but then it could also write the file.
type User struct {
	UID    int    `json:"uid"` // -1 where the system has none
	Name   string `json:"name,omitempty"`
	Caller *User  `json:"caller,omitempty"` // who got these rights by sudo or the like, as that says
}

// String is the user's name, or number, and the caller's.
func (u *User) String() string {
	if u == nil {
		return ""
	}
	name := u.Name
	if name == "" {
		name = fmt.Sprintf("uid %d", u.UID)
	}
	if u.Caller != nil {
		name = u.Caller.String() + " as " + name
	}
	return name
}
