package multiparty_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/collect/multiparty"
)

// A federation of one party would trust it with everything: its file is refused.
func ExampleReadFederation() {
	dir, err := os.MkdirTemp("", "federation")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "federation.toml")
	text := `[[holder]]
name = "berlin"
address = "127.0.0.1:7101"
key = "1111111111111111111111111111111111111111111111111111111111111111"
[[party]]
name = "p1"
address = "127.0.0.1:7102"
key = "2222222222222222222222222222222222222222222222222222222222222222"
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, err = multiparty.ReadFederation(path)
	fmt.Println(err != nil)
	// Output: true
}
