"""Asks a server as an agent, with Python's client of the Model Context Protocol."""

import asyncio
import sys

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

GROUPED = "SELECT department, count(*) AS visits FROM visits GROUP BY department"


async def main(url: str, token: str) -> None:
    async with httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
        async with streamable_http_client(url, http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                await session.initialize()
                first = await ask(session)
                again = await ask(session)
                refused = await session.call_tool("query", {"sql": "SELECT age FROM visits", "rho": 1})
                print(
                    f"{len(first['rows'])} rows, cost {first['cost']['rho']}, "
                    f"again {again.get('reused')}, refused {is_error(refused)}"
                )


async def ask(session: ClientSession) -> dict:
    result = await session.call_tool("query", {"sql": GROUPED, "rho": "0.01"})
    return getattr(result, "structured_content", None) or result.structuredContent


def is_error(result: object) -> bool:
    return getattr(result, "is_error", None) or getattr(result, "isError", False)


asyncio.run(main(*sys.argv[1:]))
