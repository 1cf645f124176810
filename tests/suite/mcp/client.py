"""Drives `meshdoctor mcp` with the official MCP SDK, which validates each message and each result against its schema.

    client.py MESHDOCTOR ARGUMENT...

Prints one line of JSON: the negotiated version, the tools, the findings of `check`, the first line of the script of
`fix`, the phase of `rotate`, and the error of a wrong call.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client


async def main(program, arguments):
    server = StdioServerParameters(command=program, args=["mcp", "--no-config", *arguments])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        begin = await session.initialize()
        tools = (await session.list_tools()).tools
        listed = await session.call_tool("list", {})
        checked = await session.call_tool("check", {})
        explained = await session.call_tool("explain", {"text": "injector-fails-open"})
        plan = await session.call_tool("fix", {})
        script = await session.call_tool("fix", {"format": "script"})
        rotation = await session.call_tool("rotate", {})
        wrong = await session.call_tool("reach", {"from": "shop/no-such-pod", "to": "nowhere:1"})
        print(json.dumps({
            "protocol": field(begin, "protocol_version", "protocolVersion"),
            "server": field(begin, "server_info", "serverInfo").name,
            "instructions": bool(begin.instructions),
            "tools": [tool.name for tool in tools],
            "ok": not any(failed(result) for result in (listed, checked, explained, plan, script, rotation)),
            "findings": [one["check"] for one in structured(checked)["document"]["findings"]],
            "script": structured(script)["document"]["lines"][0],
            "phase": structured(rotation)["document"]["phase"],
            "wrong": [failed(wrong), wrong.content[0].text],
        }))


def field(value, *names):
    """An attribute under the name of this or of an earlier version of the SDK."""
    return next(getattr(value, name) for name in names if hasattr(value, name))


def failed(result):
    return field(result, "is_error", "isError")


def structured(result):
    return field(result, "structured_content", "structuredContent")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
