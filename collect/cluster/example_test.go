package cluster_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/collect/cluster"
)

func Example() {
	// The role says hello; the function is its whole process.
	hello := func(ctx context.Context, s *cluster.Station) error {
		return s.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "hello %s", cluster.Caller(r))
		}))
	}
	p := cluster.Profile{
		Name: "hello", Short: "a role that says hello",
		Members: func(cluster.Settings) ([]cluster.Member, error) {
			return []cluster.Member{{Name: "host", Kind: "hello"}, {Name: "guest", Peers: []string{"host"}}}, nil
		},
		Roles: map[string]cluster.Role{"hello": hello},
	}
	_, err := cluster.Up(context.Background(), "nowhere", "helo", nil, cluster.Options{Profiles: []cluster.Profile{p}, Now: time.Now})
	fmt.Println(err)
	// Output: a cluster has no such thing: there is no profile "helo"
}
