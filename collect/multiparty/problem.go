package multiparty

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	discreet "github.com/discreet-dp/discreet"
)

// The names of errors, after DAP's where it has one. A problem's type is a URN that ends so.
const (
	invalidMessage   = "invalidMessage"
	unrecognizedTask = "unrecognizedTask"
	taskMismatch     = "taskMismatch" // the task does not fit the digest, or the federation
	taskExpired      = "taskExpired"
	taskTooEarly     = "taskTooEarly"
	taskLost         = "taskLost"      // charged, and the shares are gone
	sharesDiffer     = "sharesDiffer"  // another share of the same holder for the same task
	noiseDiffers     = "noiseDiffers"  // holders ask for different noise
	sumIncomplete    = "sumIncomplete" // shares are missing
	partyRestored    = "partyRestored"
	tooManyTasks     = "tooManyTasks" // begun by an asker, and never carried out
	partyUnreachable = "partyUnreachable"
	unauthorized     = "unauthorizedRequest"
	refused          = "refused" // by the holder's rules or budget; has a refusal
	approvalPending  = "approvalPending"
	approvalDenied   = "approvalDenied"
	internalError    = "internalError"
)

const urn = "urn:discreet:federation:error:"

// statuses are HTTP's. A problem of status 5xx, and sumIncomplete, may pass.
var statuses = map[string]int{
	invalidMessage: http.StatusBadRequest, unrecognizedTask: http.StatusNotFound, taskMismatch: http.StatusConflict, taskExpired: http.StatusGone,
	taskTooEarly: http.StatusForbidden, taskLost: http.StatusGone, sharesDiffer: http.StatusConflict, noiseDiffers: http.StatusConflict, sumIncomplete: http.StatusConflict,
	partyRestored: http.StatusConflict, tooManyTasks: http.StatusTooManyRequests, partyUnreachable: http.StatusBadGateway, unauthorized: http.StatusForbidden, refused: http.StatusForbidden,
	approvalPending: http.StatusForbidden, approvalDenied: http.StatusForbidden, internalError: http.StatusInternalServerError,
}

// A Problem is what a member refuses with (RFC 9457).
type Problem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	// Refusal is the holder's, in the form of every error of the command.
	Refusal *refusal `json:"refusal,omitempty"`
	// Approval is what the holder's owner has to decide.
	Approval string `json:"approval,omitempty"`
}

// A refusal is a discreet.Refusal as it travels.
type refusal struct {
	Code    string              `json:"code"`
	Message string              `json:"message"`
	Why     string              `json:"why"`
	Hint    string              `json:"hint"`
	Asked   *discreet.Remaining `json:"asked,omitempty"`
	Left    *discreet.Remaining `json:"left,omitempty"`
}

// Error returns the name and the detail.
func (p *Problem) Error() string { return p.Name() + ": " + p.Detail }

// Name is the end of the problem's type.
func (p *Problem) Name() string {
	if len(p.Type) > len(urn) {
		return p.Type[len(urn):]
	}
	return p.Type
}

func problem(name, detail string) *Problem {
	return &Problem{Type: urn + name, Status: statuses[name], Detail: detail}
}

// problemOf is the problem that an error is. Of an error that nobody foresaw it tells nothing.
func problemOf(err error) *Problem {
	var p *Problem
	var r *discreet.Refusal
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &r):
		p = problem(refused, r.Message)
		p.Refusal = &refusal{r.Code, r.Message, r.Why, r.Hint, r.Asked, r.Left}
		return p
	case errors.Is(err, discreet.ErrUnavailable):
		p = problem(refused, err.Error())
		p.Refusal = &refusal{Code: "D100", Message: "the answer could not be computed", Why: "the charge stays, and the owner has been told", Hint: "ask the owner, who finds the cause in the log"}
		return p
	}
	return problem(internalError, "the member failed; its operator finds the cause in the log")
}

// writeProblem answers with a problem.
func writeProblem(w http.ResponseWriter, p *Problem) {
	body, err := json.Marshal(p)
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	w.Write(body) //nolint:errcheck // the other side is gone
}

// strict reads one JSON value without unknown members, and nothing after it.
func strict(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return errors.New("it is not the JSON of this message")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}

// maxBody bounds a message: a share of the most values that a statement may have.
const maxBody = 64 << 20

// body reads a request's message whole; a part of one is none.
func body(r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, problem(invalidMessage, "the message ends early")
	}
	if len(data) > maxBody {
		return nil, problem(invalidMessage, fmt.Sprintf("the message has more than %d bytes", maxBody))
	}
	return data, nil
}
