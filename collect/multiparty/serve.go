package multiparty

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/discreet-dp/discreet/internal/identity"
)

// Serve answers at an address until ctx ends. ready is called with the address that it has.
func Serve(ctx context.Context, address string, as *Identity, f *Federation, h http.Handler, log *slog.Logger, ready func(address string) error) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return serve(ctx, l, as, f, h, log, ready)
}

// serve is Serve on a listener.
func serve(ctx context.Context, l net.Listener, as *Identity, f *Federation, h http.Handler, log *slog.Logger, ready func(address string) error) error {
	return identity.Serve(ctx, l, as.server(f), h, log, ready)
}
