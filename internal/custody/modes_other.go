//go:build !unix

package custody

import "io/fs"

const noFollow = 0

func isLink(error) bool { return false }

func oneName(fs.FileInfo) bool { return true }

func writable(fs.FileInfo) bool { return false }

func readable(fs.FileInfo) bool { return false }

// Foreign returns the file, or the folder on the way to it, that neither root nor the user
// owns; "" if there is none.
func Foreign(string, int) (string, error) { return "", nil }
