"""Trains what bench/federated has written by Flower's own strategies, and prints lines of the same table.

Flower's FedAvg, and its central privacy with fixed clipping under its own accountant, lead rounds over client apps
in this process: messages go by a Grid in memory in place of a SuperLink, so that a hundred nodes need one process.
"""

import json
import logging
import pathlib
import sys

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.supercore.task_identity import TaskIdentity

logging.getLogger("flwr").setLevel(logging.ERROR)
TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 0  # what a SuperLink would say


def epsilon_of(nodes, delta):
    """Returns Flower's accountant, or None where its extra "dp" is not installed."""
    from flwr.serverapp import NeighboringRelation, PrivacyConfig, RdpAccountant, SamplingMethod

    config = PrivacyConfig(target_delta=delta, population_size=nodes, neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE,
                           sampling_method=SamplingMethod.NO_AMPLIFICATION)
    try:
        return RdpAccountant(config)
    except ImportError:
        return None


class Loop(Grid):
    """Gives each message to a client app, in turn."""

    def __init__(self, train, nodes):
        self.train, self.nodes, self.replies = train, nodes, {}

    def set_run(self, run):
        raise NotImplementedError

    @property
    def run(self):
        raise NotImplementedError

    def create_message(self, content, message_type, dst_node_id, group_id, ttl=None):
        return Message(content, dst_node_id=dst_node_id, message_type=message_type, group_id=group_id, ttl=ttl)

    def get_node_ids(self):
        return range(1, self.nodes + 1)

    def push_messages(self, messages):
        raise NotImplementedError

    def pull_messages(self, message_ids):
        raise NotImplementedError

    def send_and_receive(self, messages, *, timeout=None):
        return [Message(self.train(m.metadata.dst_node_id - 1, m.content), reply_to=m) for m in messages]


def gradient(x, y, w, b):
    """Returns the mean gradient of a linear model's loss: of one output, or of one for each class."""
    scores = x @ w + b
    if w.shape[1] == 1:
        error = 1 / (1 + np.exp(-scores)) - y[:, None]
    else:
        scores -= scores.max(axis=1, keepdims=True)
        error = np.exp(scores)
        error /= error.sum(axis=1, keepdims=True)
        error[np.arange(len(y)), y] -= 1
    return x.T @ error / len(y), error.mean(axis=0)


def right(x, y, w, b):
    """Returns the share of labels that a model gets right."""
    scores = x @ w + b
    said = (scores[:, 0] > 0) if w.shape[1] == 1 else scores.argmax(axis=1)
    return float((said == y).mean())


def main(folder):
    """Makes the runs of each task in a folder."""
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        task = json.loads(path.read_text())
        name, width, outputs = task["name"], task["width"], task["outputs"]

        def read(of, width=width, name=name):
            x = np.fromfile(path.parent / f"{name}-{of}.x", "<f4").reshape(-1, width)
            return x, np.fromfile(path.parent / f"{name}-{of}.y", "<i4")

        (x, y), test = read("train"), read("test")
        random = np.random.default_rng(7)

        def training(parts):
            def train(node, content, parts=parts):
                w, b = [a.copy() for a in content["arrays"].to_numpy_ndarrays()]
                rows = random.permutation(parts[node])
                for at in range(0, len(rows), 32):
                    batch = rows[at : at + 32]
                    dw, db = gradient(x[batch], y[batch], w, b)
                    w -= np.float32(task["rate"]) * dw
                    b -= np.float32(task["rate"]) * db
                return RecordDict({"arrays": ArrayRecord([w, b]), "metrics": MetricRecord({"num-examples": 1})})

            return train

        for nodes in (10, 100):
            for how in ("equal", "sorted"):
                at = np.fromfile(path.parent / f"{name}-{nodes}-{how}.i4", "<i4")
                parts = [np.flatnonzero(at == i) for i in range(nodes)]
                for private in (False, True):
                    strategy = FedAvg(fraction_train=1, fraction_evaluate=0, min_train_nodes=nodes, min_available_nodes=nodes)
                    accountant, states = None, "none"
                    if private:
                        accountant = epsilon_of(nodes, task["delta"])
                        strategy = DifferentialPrivacyServerSideFixedClipping(strategy, task["noise"], task["clip"], nodes, accountant=accountant)
                    begin = ArrayRecord([np.zeros((width, outputs), "f4"), np.zeros(outputs, "f4")])
                    result = strategy.start(Loop(training(parts), nodes), begin, num_rounds=task["rounds"], train_config=ConfigRecord())
                    if accountant is not None:
                        states = f"{accountant.get_epsilon(task['delta']):.2f}"
                    w, b = result.arrays.to_numpy_ndarrays()
                    method = "Flower, clipped for nodes" if private else "Flower, fedavg"
                    print(f"{name:<6} {nodes:>5}  {how:<6}  {method:<27}  {states:>7}  {right(*test, w, b):.4f}", flush=True)


main(sys.argv[1])
