// Weblog asks a web server's log, as McSherry 2009 does: how requests end, how many
// users saw each page, and how many users of each region came back. The unit is a user,
// of whom at most ten requests count; lines that are none are left out.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/budget"
	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/filter"
	"github.com/discreet-dp/discreet/noise"
	"github.com/discreet-dp/discreet/privacy"
)

type request struct {
	user   int
	page   string
	status int
}

type user struct {
	id     int
	region string
}

var (
	pages   = []string{"/", "/news", "/shop", "/about"}
	regions = []string{"north", "south"}
)

// log makes one up: user,page,status.
func log(users int) string {
	var b strings.Builder
	for u := range users {
		for visit := range 1 + u*u%14 {
			status := 200
			if (u+visit)%9 == 0 {
				status = 404
			}
			fmt.Fprintf(&b, "%d,%s,%d\n", u, pages[(u*visit+visit)%len(pages)], status)
		}
		if u%50 == 0 {
			fmt.Fprintf(&b, "%d,\"broken\n", u)
		}
	}
	return b.String()
}

func parse(fields []string) (r request, err error) {
	if r.user, err = strconv.Atoi(fields[0]); err != nil {
		return r, err
	}
	r.page = fields[1]
	r.status, err = strconv.Atoi(fields[2])
	return r, err
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	total, err := privacy.ParseEpsilon("3")
	if err != nil {
		return err
	}
	half, err := privacy.ParseEpsilon("0.5")
	if err != nil {
		return err
	}
	b, err := budget.NewInMemory("users", filter.Budget{Measure: filter.Pure, Epsilon: total})
	if err != nil {
		return err
	}
	requests, err := dataset.ReadLines(strings.NewReader(log(3000)), dataset.CSV(',', 3, parse), dataset.LineOptions[request]{})
	if err != nil {
		return err
	}
	bits, o := noise.System(), dataset.Options{Epsilon: half}
	// One record a user: what is asked of users needs no bound on their requests.
	users, err := dataset.NewUnits(bits, requests, b, func(r request) int { return r.user })
	if err != nil {
		return err
	}

	visits := dataset.SelectMany(users, 10, func(u dataset.Group[int, request]) []request { return u.Records })
	ends, err := dataset.NoisyHistogram(ctx, bits, visits, []int{200, 404, 500}, func(r request) int { return r.status }, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "requests by status 200, 404, 500: %d\n", ends.Value)
	if err := spent(ctx, out, b); err != nil {
		return err
	}

	// A user is in the count of each of four pages at most.
	seen := dataset.SelectMany(users, int64(len(pages)), func(u dataset.Group[int, request]) []string {
		var all []string
		for _, p := range pages {
			for _, r := range u.Records {
				if r.page == p {
					all = append(all, p)
					break
				}
			}
		}
		return all
	})
	readers, err := dataset.NoisyHistogram(ctx, bits, seen, pages, func(p string) string { return p }, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "users by page %q: %d\n", pages, readers.Value)
	if err := spent(ctx, out, b); err != nil {
		return err
	}

	// Where users live is private as well, and of the same users: stabilities add up.
	homes := make([]user, 3000)
	for i := range homes {
		homes[i] = user{i, regions[i%len(regions)]}
	}
	living, err := dataset.New(bits, homes, b)
	if err != nil {
		return err
	}
	back := dataset.Where(users, func(u dataset.Group[int, request]) bool { return len(u.Records) > 5 })
	joined := dataset.BoundedJoin(back, living,
		func(u dataset.Group[int, request]) int { return u.Key }, func(u user) int { return u.id }, dataset.JoinBound{Left: 1, Right: 1})
	for i, part := range dataset.Partition(joined, regions, func(p dataset.Pair[int, dataset.Group[int, request], user]) string { return p.Right.region }) {
		n, err := dataset.NoisyCount(ctx, bits, part, o)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "users of the %s with more than five requests: %d, in %d to %d\n", regions[i], n.Value, n.Low, n.High)
	}
	return spent(ctx, out, b)
}

func spent(ctx context.Context, out io.Writer, b *budget.InMemory) error {
	s, err := b.Spent(ctx)
	fmt.Fprintf(out, "total cost: epsilon %v\n", s.Epsilon)
	return err
}
