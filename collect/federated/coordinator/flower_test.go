package coordinator

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/collect/cluster"
	"github.com/discreet-dp/discreet/collect/federated"
	"github.com/discreet-dp/discreet/collect/internal/clustertest"
	"github.com/discreet-dp/discreet/privacy"
)

// client is a client of Flower whose updates are far too long: what is left of the mod is what
// would be sent. A second run is beyond the node's budget.
const client = `
import json, sys
import numpy as np
from flwr.common import Message, RecordDict, ArrayRecord, MetricRecord
from flwr.supercore.task_identity import TaskIdentity
from discreet.flower import DiscreetMod, Refused
TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 1 # as a process of Flower has them
address, folder, plan = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
def asked():
    return Message(RecordDict({"arrays": ArrayRecord([np.zeros((2, 2), "f4"), np.zeros(1, "f4")])}), dst_node_id=1, message_type="train")
def train(message, context):
    arrays = ArrayRecord([np.full((2, 2), 1e6, "f4"), np.full(1, 1e6, "f4")])
    return Message(RecordDict({"arrays": arrays, "metrics": MetricRecord({"num-examples": 12345, "loss": 0.25})}), reply_to=message)
mod = DiscreetMod(address, folder, "flower-1", plan)
for _ in range(2):
    reply = mod(asked(), None, train)
    sent = np.concatenate([a.numpy().ravel() for a in reply.content["arrays"].values()])
    assert sent.shape == (5,) and np.abs(sent).max() < 200 and np.abs(sent).min() > 0, sent
    assert "12345" not in str(reply.content) and "loss" not in str(reply.content), reply.content
try:
    mod(asked(), None, train)
    raise SystemExit("a third round of two came back")
except Refused as refused:
    print("refused", refused.kind)
try:
    DiscreetMod(address, folder, "flower-2", plan)(asked(), None, train)
    raise SystemExit("a run beyond the budget came back")
except Refused as refused:
    print("refused", refused.kind)
try:
    DiscreetMod(address, folder, "flower-3", plan, name="node-2").hide(np.zeros(5, "f4"))
    raise SystemExit("another member was taken for the node")
except Exception as wrong:
    print("refused", type(wrong).__name__)
`

// A client of Flower sends what its Discreet node let out, or nothing.
func TestFlowersClientsSendWhatTheNodeLetsOut(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.CommandContext(t.Context(), python, "-c", "import flwr.common, numpy").Run() != nil {
		t.Skip("skip: python3 has no flwr; pip install flwr")
	}
	c := clustertest.Up(t, Profile(), cluster.Settings{"nodes": "1", "auto": "3", "epsilon": "2.2"}, nil)
	app := clustertest.Member(t, c, "app")
	p := training(2, 1)
	p.Unit, p.Local.Rate, p.Privacy.Place = federated.Node, 1, federated.AtNodes
	// Persons pay at twice the distance.
	*p = must(p.Calibrate(must(privacy.ParseEpsilon("2")), privacy.ReplaceOne))
	plan, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	source, err := filepath.Abs("../../../clients/python/src/discreet")
	if err != nil {
		t.Fatal(err)
	}
	// The module alone: the package around it needs the client's own libraries.
	load := "import importlib.util, sys, types\nsys.modules['discreet'] = types.ModuleType('discreet')\n" +
		"spec = importlib.util.spec_from_file_location('discreet.flower', '" + filepath.Join(source, "flower.py") + "')\n" +
		"module = importlib.util.module_from_spec(spec); sys.modules['discreet.flower'] = module; spec.loader.exec_module(module)\n"
	out, err := exec.CommandContext(t.Context(), python, "-c", load+client, app.Peers["node-1"], c.Folder("app"), string(plan)).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "refused badRequest") || !strings.Contains(string(out), "refused budgetExceeded") || !strings.Contains(string(out), "refused SSL") {
		t.Errorf("%v\n%s", err, out)
	}
}
