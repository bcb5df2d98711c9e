package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrServer: what is given is no server's address that a token may be sent to.
var ErrServer = errors.New("no server")

// maxAnswer is the size of the largest answer that a bridge passes on.
const maxAnswer = 64 << 20

// Bridge serves an agent on in and out until in ends: it asks a server with a token, and
// opens no data. The token goes to that server alone, and through no open network.
func Bridge(ctx context.Context, in io.Reader, out io.Writer, server, token string) error {
	base, err := url.Parse(strings.TrimRight(server, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return fmt.Errorf("%w: want something like https://data.example:8080", ErrServer)
	}
	if base.Scheme == "http" && !loopback(base.Hostname()) {
		return fmt.Errorf("%w: a token goes over https, or to this machine", ErrServer)
	}
	client := &http.Client{
		Timeout:       10 * time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	s, err := newServer(func(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
		r, err := http.NewRequestWithContext(ctx, method, base.String()+path, bytes.NewReader(body))
		if err != nil {
			return 0, nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(r)
		if err != nil {
			return 0, nil, err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
		if err == nil && len(text) > maxAnswer {
			err = errors.New("the answer is too large")
		}
		return answer.StatusCode, text, err
	})
	if err != nil {
		return err
	}
	c := newConversation(in, out)
	err = s.Run(ctx, &mcp.IOTransport{Reader: c, Writer: c})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
