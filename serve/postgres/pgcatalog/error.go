package pgcatalog

import "fmt"

// An Error is why a statement has no answer, as PostgreSQL tells it.
type Error struct {
	SQLState      string
	Message, Hint string
	Position      int // the byte of the statement that it is about, from 1; or 0
}

func (e *Error) Error() string { return e.Message }

// fail ends the reading or the running of a statement; what is asked for recovers it.
func fail(state, format string, args ...any) {
	panic(&Error{SQLState: state, Message: fmt.Sprintf(format, args...)})
}

// The states of errors that come from more than one place.
const (
	tooMuch     = "54000" // program_limit_exceeded
	unsupported = "0A000" // feature_not_supported
	noColumn    = "42703" // undefined_column
	noTable     = "42P01" // undefined_table
	noFunction  = "42883" // undefined_function
	noObject    = "42704" // undefined_object
	wrongType   = "42804" // datatype_mismatch
	badText     = "22P02" // invalid_text_representation
	outOfRange  = "22003" // numeric_value_out_of_range
	syntax      = "42601"
)
