package notation_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/notation"
	"github.com/discreet-dp/discreet/sqltype"
)

// What a German text file means by a number and by a date, as SQL has them.
func ExampleForm_Canonical() {
	date, err := notation.ParsePattern("DD.MM.YYYY")
	if err != nil {
		fmt.Println(err)
		return
	}
	form := notation.Form{Decimal: ',', Thousands: ".", Date: date}
	amount := form.Canonical(nil, []byte("1.234,50"), sqltype.Of(sqltype.Double))
	day := form.Canonical(nil, []byte("24.12.2025"), sqltype.Of(sqltype.DateKind))
	fmt.Printf("%s %s\n", amount, day)
	// Output: 1234.50 2025-12-24
}
