"""The agent uses the tools of a real server of ``fastmcp``."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import KEY, LIT, Model, run_server

SERVER = Path(__file__).with_name("fastmcp_server.py")
SECONDS = 60
QUESTION = [{"role": "user", "content": "Light, please."}]


@pytest.fixture(scope="module")
def agent(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server whose agent has the tool ``lamp`` of another."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    lamps = subprocess.Popen([sys.executable, SERVER, str(port)], stderr=subprocess.DEVNULL)
    file = tmp_path_factory.mktemp("agent") / "agent.json"
    url = f"http://127.0.0.1:{port}/mcp"
    file.write_text(json.dumps({"mcpServers": {"home": {"url": url, "allowTools": ["lamp"]}}}))
    settings = {"AGENT_CONFIG": str(file), "OUTBOUND_ALLOW": "127.0.0.1"}
    try:
        with run_server(model, settings) as base_url:
            base = base_url.removesuffix("/openai/v1")
            headers = {"authorization": f"Bearer {KEY}"}
            with httpx.Client(base_url=base, headers=headers, timeout=SECONDS) as client:
                wait_for_tools(client)
                yield client
    finally:
        lamps.terminate()
        lamps.wait()


def wait_for_tools(client: httpx.Client) -> None:
    until = time.monotonic() + SECONDS
    while not (tested := client.post("/agent/mcp/home/test", json={}).json())["ok"]:
        assert time.monotonic() < until, tested
        time.sleep(0.2)


def ask(client: httpx.Client, **more: Any) -> list[dict[str, Any]]:
    response = client.post("/chat", json={"messages": QUESTION, "includeSteps": True, **more})
    assert response.status_code == 200, response.text
    lines = [line for line in response.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_it_is_asked_by_a_tool_and_told_how_far_the_call_is(agent: httpx.Client, model: Model) -> None:
    asked = ask(agent)
    [waiting] = [frame for frame in asked if frame["type"] == "approval-required"]
    [call] = waiting["calls"]
    assert [each["message"] for each in call["elicitations"]] == ["In which room?"]
    answer = {"callId": call["callId"], "id": "room", "content": {"room": "attic"}}
    resume = {"state": waiting["state"], "approved": [call["callId"]], "answers": [answer]}
    frames = ask(agent, resume=resume)
    told = [frame for frame in frames if frame["type"] == "tool-progress"]
    assert {(frame["message"], frame["total"]) for frame in told} <= {("Wire 1", 2), ("Wire 2", 2)}
    assert told
    [result] = [frame for frame in frames if frame["type"] == "tool-result"]
    assert result["output"] == "the lamp of the attic is on"
    assert "".join(frame["text"] for frame in frames if frame["type"] == "text-delta") == LIT


def test_a_tool_that_asks_in_the_older_way_says_that_it_cannot(agent: httpx.Client) -> None:
    body = {"tool": "older_lamp", "arguments": {"on": True}}
    tested = agent.post("/agent/mcp/home/test", json=body).json()
    assert not tested["ok"]
    assert "elicitation" in tested["steps"][-1]["message"]
