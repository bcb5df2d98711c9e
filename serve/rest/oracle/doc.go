// Package oracle holds the server's OpenAPI document against a validator of such documents.
// It is a module of its own: the server needs no YAML and no such library.
package oracle
