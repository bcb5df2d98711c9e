// Package local measures reports of the local model, beside other libraries in the same run. It
// holds nothing but a measurement.
package local
