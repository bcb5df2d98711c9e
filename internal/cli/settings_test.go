package cli

import (
	"maps"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated/coordinator"
	prio "github.com/discreet-dp/discreet/collect/multiparty/prio/process"
	"github.com/discreet-dp/discreet/collect/shuffle/process"
	"github.com/discreet-dp/discreet/internal/cli/multiparty"
)

// Whatever setting of a cluster is spelled wrongly, the refusal is no message of Go's readers of numbers. A setting of another is
// read with that one alone.
func TestSettingsAreRefusedInWords(t *testing.T) {
	for _, p := range []cluster.Profile{process.Profile(), multiparty.Profile(), prio.Profile(), coordinator.Profile()} {
		given := cluster.Settings{}
		for _, s := range p.Settings {
			given[s.Name] = s.Default
		}
		if _, err := p.Members(given); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		for _, s := range p.Settings {
			wrong := maps.Clone(given)
			for of, with := range map[string][2]string{"delta": {"rho", "0.1"}, "crowd-epsilon": {"crowd-threshold", "5"}, "crowd-delta": {"crowd-threshold", "5"}} {
				if _, has := given[with[0]]; of == s.Name && has {
					wrong[with[0]] = with[1] // which it is read with
				}
			}
			wrong[s.Name] = "x1"
			if _, err := p.Members(wrong); err == nil || strings.Contains(err.Error(), "strconv") {
				t.Errorf("%s, %s=x1: %v", p.Name, s.Name, err)
			}
		}
	}
}
