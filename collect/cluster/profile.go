// Package cluster runs the roles of a collecting model as processes of one machine: a folder
// and keys for each, loopback ports, ready files, logs, health pages. It is what discreet
// cluster up, status, kill, restart and down do, and what tests start.
//
// # How to add a role
//
// A package of collect/ (collect/shuffle is the first) returns a [Profile]: a name, the
// settings that people may change, the members with their configuration, and for each kind
// of member a [Role], the function that is its process:
//
//	func Profile() cluster.Profile {
//		return cluster.Profile{
//			Name:     "shuffle",
//			Short:    "two shufflers and an analyzer",
//			Settings: []cluster.Setting{{Name: "batch", Default: "100", Usage: "reports of a batch, at least"}},
//			Members: func(s cluster.Settings) ([]cluster.Member, error) {
//				return []cluster.Member{
//					{Name: "hop-1", Kind: "hop", Peers: []string{"hop-2"}, Config: hopConfig{...}},
//					{Name: "client", Peers: []string{"hop-1"}}, // no kind: keys and a folder, no process
//				}, nil
//			},
//			Roles: map[string]cluster.Role{"hop": runHop},
//		}
//	}
//
// The package's profile then joins the list in internal/cli/cluster, and nothing else
// changes. A role reads its configuration ([Station.Decode]), keeps what it must not lose
// below [Station.Dir], answers others by [Station.Serve], whose handlers ask [Caller] who
// they speak to, and asks others by [Station.Client] and [Station.URL]. It ends when its
// context does; signal 9 ends it anywhere. Whoever only connects, such as a collector's
// command, opens the folder of a member without a kind by [Open]. Tests start a profile by
// package clustertest, which also has a proxy that cuts connections.
//
// # What holds
//
// Every connection is TLS 1.3 with certificates on both sides, by an authority that exists
// while the folder is made and is never written: nobody can join later. A client accepts
// the role that it asked for and no other; a server knows its caller's name. One process at
// a time runs in a role's folder. It holds a lock on it, which the system gives back when the
// process ends, however it ends: a process is signalled only while it holds the lock, so
// that a process which has the number of a dead one by chance is left alone.
//
// It does not guarantee that roles on one machine, under one account, are hidden from each
// other: who reads one folder reads all. For a separation that holds, the folders go to
// machines of their own, with addresses that others can reach.
package cluster

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// A Role is what the process of a kind of member does, until the context ends.
type Role func(ctx context.Context, s *Station) error

// A Member is one participant: a process, or, without a kind, somebody who connects.
type Member struct {
	Name   string
	Kind   string   // of its role; "" has no process
	Peers  []string // the members that it asks
	Config any      // what its role decodes; JSON
}

// A Setting is what people may change of a profile, as they type it.
type Setting struct{ Name, Default, Usage string }

// Settings are the values of all settings of a profile.
type Settings map[string]string

// Whole reads a setting that is a whole number.
func (s Settings) Whole(name string) (int, error) {
	n, err := strconv.Atoi(s[name])
	if err != nil {
		return 0, fmt.Errorf("%s=%s: want a whole number", name, s[name])
	}
	return n, nil
}

// A Profile is a model's members and what they do.
type Profile struct {
	Name     string
	Short    string // a line for people
	Settings []Setting
	Members  func(Settings) ([]Member, error)
	Roles    map[string]Role // by kind
}

// memberName is a name of a folder and of a certificate.
var memberName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}$`)

// members are the profile's members under the settings that are given, with all settings.
func (p Profile) members(given Settings) ([]Member, Settings, error) {
	all := Settings{}
	for _, s := range p.Settings {
		all[s.Name] = s.Default
	}
	for name, value := range given {
		if _, ok := all[name]; !ok {
			return nil, nil, fmt.Errorf("%w: profile %s has no setting %q", ErrUsage, p.Name, name)
		}
		all[name] = value
	}
	members, err := p.Members(all)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	var names []string
	for _, m := range members {
		switch {
		case !memberName.MatchString(m.Name):
			return nil, nil, fmt.Errorf("member %q of profile %s: not a name", m.Name, p.Name)
		case slices.Contains(names, m.Name):
			return nil, nil, fmt.Errorf("profile %s has two members %s", p.Name, m.Name)
		case m.Kind != "" && p.Roles[m.Kind] == nil:
			return nil, nil, fmt.Errorf("profile %s has no role %q", p.Name, m.Kind)
		}
		names = append(names, m.Name)
	}
	for _, m := range members {
		for _, peer := range m.Peers {
			if i := slices.Index(names, peer); i < 0 || members[i].Kind == "" {
				return nil, nil, fmt.Errorf("member %s of profile %s asks %q, which answers nobody", m.Name, p.Name, peer)
			}
		}
	}
	return members, all, nil
}
