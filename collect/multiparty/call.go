package multiparty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// call sends a request to a member and returns its answer, or the *Problem that it has. A
// connection serves one request: there are few, and a member that was restarted has others.
func call(ctx context.Context, as *Identity, to Member, method, path string, message []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "https://"+to.Address+path, bytes.NewReader(message))
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", to.Name, err)
	}
	if message != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	transport := &http.Transport{TLSClientConfig: as.client(to), DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", to.Name, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask %s: %w", to.Name, err)
	case len(data) > maxBody:
		return nil, fmt.Errorf("ask %s: the answer has more than %d bytes", to.Name, maxBody)
	case response.StatusCode == http.StatusOK:
		return data, nil
	}
	var p Problem
	if err := strict(data, &p); err != nil || p.Type == "" {
		return nil, fmt.Errorf("ask %s: %w", to.Name, errors.New(response.Status))
	}
	p.Status = response.StatusCode
	return nil, &p
}
