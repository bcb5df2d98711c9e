"""Sends updates that no bound holds, through the mod."""

import json

import numpy as np
from discreet.flower import DiscreetMod
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp


def hidden(message, context, call_next):
    with open(str(context.run_config["plan"]), encoding="utf-8") as f:
        plan = json.load(f)
    node = context.node_config
    return DiscreetMod(node["address"], node["folder"], context.run_config["study"], plan, name=node["node"])(message, context, call_next)


app = ClientApp(mods=[hidden])


@app.train()
def train(message: Message, context: Context) -> Message:
    arrays = ArrayRecord([np.full((2, 2), 1e6, "f4"), np.full(1, 1e6, "f4")])
    content = {"arrays": arrays, "metrics": MetricRecord({"num-examples": 12345, "loss": 0.25}), "more": ConfigRecord({"secret": "canary"})}
    return Message(RecordDict(content), reply_to=message)
