package scatter_test

import (
	"context"
	"fmt"
	"log"

	"github.com/discreet-dp/discreet/learn/example"
	"github.com/discreet-dp/discreet/learn/scatter"
)

// Two pictures of 28 by 28 pixels become features that no picture was needed for.
func Example() {
	t, err := scatter.New(scatter.Options{Height: 28, Width: 28})
	if err != nil {
		log.Fatal(err)
	}
	pictures := &example.Set{Width: 28 * 28, Features: make([]float32, 2*28*28), Classes: 10, Outputs: 1, Labels: []int32{4, 2}}
	features, err := t.Set(context.Background(), pictures)
	if err != nil {
		log.Fatal(err)
	}
	height, width := t.Size()
	fmt.Println(features.Len(), "examples of", t.Channels(), "channels of", height, "by", width)
	// Output: 2 examples of 81 channels of 7 by 7
}
