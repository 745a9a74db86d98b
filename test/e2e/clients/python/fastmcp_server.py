"""A server of ``fastmcp`` whose tool ``lamp`` tells how far it is, and asks in which room: ``fastmcp_server.py PORT``."""

from __future__ import annotations

import asyncio
import sys

from fastmcp import Context, FastMCP
from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = FastMCP("lamps")
ROOM = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}


@server.tool
async def lamp(on: bool, context: Context) -> str | InputRequiredResult:
    """Switches the lamp of a room."""
    answer = (context.input_responses or {}).get("room")
    if answer is None:
        form = ElicitRequestFormParams(message="In which room?", requested_schema=ROOM)
        return InputRequiredResult(input_requests={"room": ElicitRequest(params=form)})
    if answer.action != "accept":
        return "no lamp was switched"
    for step in (1, 2):
        await context.report_progress(step, 2, f"Wire {step}")
        await asyncio.sleep(0.8)
    return f"the lamp of the {answer.content['room']} is {'on' if on else 'off'}"


@server.tool
async def older_lamp(on: bool, context: Context) -> str:
    """Asks as servers of 2025-11-25 do."""
    answer = await context.elicit("In which room?", response_type=str)
    return str(answer)


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
