package example_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/learn/example"
)

// Records become examples by declarations alone. What a record cannot be read as is
// missing, and never an error.
func ExampleCSV() {
	dir, err := os.MkdirTemp("", "people")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "people.csv")
	const people = "person,age,ward\nada,36,ER\nbob,over 60,ICU\n"
	if err := os.WriteFile(path, []byte(people), 0o600); err != nil {
		log.Fatal(err)
	}
	declared := &example.Encoding{
		Columns: []example.Column{{Name: "age", Type: "integer", Upper: 120}},
		Target:  &example.Column{Name: "ward", Type: "text", Values: []string{"ER", "ICU"}},
	}
	set, err := example.CSV(context.Background(), path, declared, "person", example.Selection{PerUnit: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.Len(), "examples of", set.UnitCount(), "people, each of", set.Width, "features and of", set.Classes, "classes")
	fmt.Println(set)
	// Output:
	// 2 examples of 2 people, each of 2 features and of 2 classes
	// [examples withheld]
}
