package sqltype_test

import (
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/sqltype"
)

// Values of a type that are equal are identical, so that they may be keys.
func ExampleKey() {
	price, err := sqltype.Parse("decimal(6,2)")
	if err != nil {
		log.Fatal(err)
	}
	a, err := sqltype.ParseValue(price, "9.5")
	if err != nil {
		log.Fatal(err)
	}
	b, err := sqltype.ParseValue(price, "9.50")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sqltype.Format(a), sqltype.Compare(a, b), sqltype.Key(a) == sqltype.Key(b))
	_, err = sqltype.ParseValue(price, "9.555")
	fmt.Println(err)
	// Output:
	// 9.50 0 true
	// 1911/200 has more than 2 digits after the point
}
