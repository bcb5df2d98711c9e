package people_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/people"
)

func ExampleAccount() {
	anna := people.Account{Name: "anna", Role: people.Analyst}
	fmt.Println(anna.Name, "is an", anna.Role)
	// Output: anna is an analyst
}
