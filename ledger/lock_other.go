//go:build !unix

package ledger

import (
	"errors"
	"os"
)

// Without locks the processes of one machine cannot share an anchor.
func lock(*os.File) error { return errors.ErrUnsupported }
