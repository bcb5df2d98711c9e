// Package people holds who may ask: accounts, their roles and rules.
//
// It does not guarantee that accounts are different people.
package people

// A Role is what an account may do beside asking.
type Role string

// The roles. An owner decides about accounts, rules and approvals, and sees what all have
// asked; an analyst asks and sees what he or she has asked.
const (
	Owner   Role = "owner"
	Analyst Role = "analyst"
)

// An Account is somebody who has signed in.
type Account struct {
	Name string
	Role Role
}
