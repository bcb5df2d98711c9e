package multiparty

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/collect/cluster"
	collect "github.com/discreet-dp/discreet/collect/multiparty"
	"github.com/discreet-dp/discreet/internal/cli/workplace"
	"github.com/discreet-dp/discreet/internal/clinic"
	"github.com/discreet-dp/discreet/mechanism"
)

// Profile is a federation on one machine: holders, each with the demo's clinic and a ledger of
// its own, parties, and an asker, who has no process: discreet query --federation DIR/asker.
func Profile() cluster.Profile {
	return cluster.Profile{
		Name:  "multiparty",
		Short: "holders of the demo's data, and parties that add the noise",
		Settings: []cluster.Setting{
			{Name: "holders", Default: "2", Usage: "how many holders"},
			{Name: "parties", Default: "3", Usage: "how many parties"},
			{Name: "colluding", Default: "", Usage: "of the parties may collude, at most; empty: all but one"},
			{Name: "shares", Default: "", Usage: "of Gaussian noise, where fewer may collude: skellam; empty: Gaussian draws"},
		},
		Members: members,
		Roles:   map[string]cluster.Role{"holder": holds, "party": adds},
	}
}

// maxMembers is how many members of a kind one machine runs.
const maxMembers = 20

func members(s cluster.Settings) (all []cluster.Member, err error) {
	holders, errH := s.Whole("holders")
	parties, errP := s.Whole("parties")
	if err := errors.Join(errH, errP); err != nil {
		return nil, err
	}
	if holders < 1 || parties < 2 || max(holders, parties) > maxMembers {
		return nil, fmt.Errorf("%d holders and %d parties: 1 to %d holders, and 2 to %d parties", holders, parties, maxMembers, maxMembers)
	}
	cast := collect.Cast{Askers: []string{"asker"}}
	if s["colluding"] != "" {
		if cast.Colluding, err = s.Whole("colluding"); err != nil || cast.Colluding < 1 || cast.Colluding >= parties {
			return nil, fmt.Errorf("%s colluding parties: 1 to %d", s["colluding"], parties-1)
		}
	}
	cast.Shares = mechanism.Sharing(s["shares"])
	if cast.Shares.Check() != nil {
		return nil, fmt.Errorf("shares is %s, or empty for Gaussian draws; not %q", mechanism.BySkellam, s["shares"])
	}
	if cast.Shares != mechanism.ByGaussian && (cast.Colluding == 0 || cast.Colluding == parties-1) {
		return nil, fmt.Errorf("each party adds the whole noise: it is shared where colluding is below %d", parties-1)
	}
	for i := range holders {
		cast.Holders = append(cast.Holders, fmt.Sprintf("holder-%d", i+1))
	}
	for i := range parties {
		cast.Parties = append(cast.Parties, fmt.Sprintf("party-%d", i+1))
	}
	for _, name := range cast.Parties {
		all = append(all, cluster.Member{Name: name, Kind: "party", Config: cast})
	}
	for _, name := range cast.Holders {
		all = append(all, cluster.Member{Name: name, Kind: "holder", Peers: cast.Parties, Config: cast})
	}
	return append(all, cluster.Member{Name: "asker", Peers: slices.Concat(cast.Holders, cast.Parties), Config: cast}), nil
}

// adds is the process of a party.
func adds(ctx context.Context, s *cluster.Station) error {
	var cast collect.Cast
	if err := s.Decode(&cast); err != nil {
		return err
	}
	return collect.RunParty(ctx, s, cast)
}

// holds is the process of a holder, with the data of the demo.
func holds(ctx context.Context, s *cluster.Station) error {
	var cast collect.Cast
	if err := s.Decode(&cast); err != nil {
		return err
	}
	return Hold(ctx, s, cast, clinic.Write)
}

// Hold is the process of a holder in a cluster. When it starts first, write makes its data and
// catalog in a folder, and returns the catalog's path; then it makes its ledger.
func Hold(ctx context.Context, s *cluster.Station, cast collect.Cast, write func(dir string) (catalog string, err error)) error {
	f, id, err := collect.AtStation(s, cast)
	if err != nil {
		return err
	}
	if err := furnish(ctx, s, write); err != nil {
		return err
	}
	w := workplace.Workplace{CatalogPath: s.File("discreet.toml")}
	defer w.Close()
	h, err := open(ctx, &w, collect.HolderOptions{Name: s.Name(), Federation: f, Identity: id, State: s.File("state"), Log: s.Log})
	if err != nil {
		return err
	}
	return s.Serve(ctx, h.Handler())
}

// furnish makes data and, last, the ledger, unless there is one.
func furnish(ctx context.Context, s *cluster.Station, write func(dir string) (string, error)) error {
	if _, err := os.Stat(s.File("discreet.ledger")); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	path, err := write(s.Dir)
	if err != nil {
		return err
	}
	w := workplace.Workplace{CatalogPath: path}
	defer w.Close()
	if err := w.Load(); err != nil {
		return err
	}
	return w.CreateLedger(ctx)
}
