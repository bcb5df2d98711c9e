"""A mod for Flower's client apps, by which a node of Discreet bounds, hides and charges updates.

What a client would send is handed to the Discreet node beside it. Only what comes back is sent: integers that
were clipped, with the node's noise, charged to the node's ledger first. Where the node refuses, the mod raises
and nothing is sent.

    app = ClientApp(mods=[DiscreetMod("127.0.0.1:15001", "cluster/app", "study", plan)])

The plan protects the node, with noise at the nodes: the server need not be trusted. Metrics and configs of a
reply are dropped, because nothing bounds them; the number of examples is the plan's, and says nothing.
"""

from __future__ import annotations

import base64
import http.client
import json
import socket
import ssl
from collections import OrderedDict
from pathlib import Path
from typing import Any, Callable

ONE = 1 << 20  # a clipping bound on the node's grid


class Refused(Exception):
    """The node let nothing out. Its type is the node's word for why."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


class DiscreetMod:
    """Asks the node at an address, as the member that stands in a folder of its cluster."""

    def __init__(self, node: str, folder: str, run: str, plan: dict[str, Any], name: str = "node-1") -> None:
        self.node, self.run, self.plan, self.round = node, run, plan, 0
        self.tls = ssl.create_default_context(cafile=str(Path(folder) / "ca.pem"))
        self.tls.load_cert_chain(Path(folder) / "cert.pem", Path(folder) / "key.pem")
        self.name = name

    def call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        host, port = self.node.rsplit(":", 1)
        # The node is found at an address, and known by the name in its certificate.
        link = self.tls.wrap_socket(socket.create_connection((host, int(port))), server_hostname=self.name)
        asked = http.client.HTTPConnection(host, int(port))
        asked.sock = link
        try:
            asked.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = asked.getresponse()
            said = dict(json.loads(answer.read()))
        finally:
            asked.close()
        if answer.status != 200:
            raise Refused(said.get("type", "failed"), said.get("detail", ""))
        return said

    def hide(self, update: Any, round: int | None = None) -> Any:
        """The update of a round, the next one by default, as the node lets it out: float32 numbers in, and out."""
        import numpy as np

        if round is not None:
            self.round = round

        asked = {"id": self.run, "reason": "updates of a Flower client", "plan": self.plan, "vectors": True}
        self.call("/requests", asked)
        clip = self.plan["privacy"]["clip"]
        vector = base64.b64encode(np.asarray(update, "<f4").tobytes()).decode()
        said = self.call(f"/requests/{self.run}/round", {"round": self.round, "vector": vector, "clip": clip})
        self.round += 1
        return np.frombuffer(base64.b64decode(said["sum"]), "<i8").astype("f8") * (clip / ONE)

    def __call__(self, message: Any, context: Any, call_next: Callable[[Any, Any], Any]) -> Any:
        import numpy as np

        if message.metadata.message_type.split(".")[0] != "train":
            return call_next(message, context)
        (given,) = message.content.array_records.values()
        before = [array.numpy() for array in given.values()]
        reply = call_next(message, context)
        if reply.has_error():
            return reply
        (key,) = reply.content.array_records
        arrays = reply.content.array_records[key]
        after = [array.numpy() for array in arrays.values()]
        flat = np.concatenate([(a - b).ravel() for a, b in zip(after, before, strict=True)])
        # A SuperNode may run each round in a process of its own: the strategy's count of rounds, from 1, goes on.
        counted = [c["server-round"] for c in message.content.config_records.values() if "server-round" in c]
        hidden, at = self.hide(flat, int(counted[0]) - 1 if counted else None), 0
        out: OrderedDict[str, Any] = OrderedDict()
        for name, shape in zip(arrays, (b.shape for b in before), strict=True):
            size = int(np.prod(shape))
            out[name] = type(arrays[name])((before[len(out)].ravel() + hidden[at : at + size]).reshape(shape).astype("f4"))
            at += size
        reply.content.array_records[key] = type(arrays)(out)
        for record in list(reply.content.metric_records):
            reply.content.metric_records[record] = type(reply.content.metric_records[record])({"num-examples": 1})
        reply.content.config_records.clear()
        return reply
