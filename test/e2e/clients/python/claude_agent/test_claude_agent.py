"""Anthropic's SDK for agents, whose program speaks Messages."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    Message,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)
from conftest import ANSWER, KEY, LIT, QUESTION, Model


@tool("lamp", "Switches the lamp.", {"on": bool})
async def lamp(arguments: dict[str, Any]) -> dict[str, Any]:
    state = "on" if arguments["on"] else "off"
    return {"content": [{"type": "text", "text": f"the lamp is {state}"}]}


@pytest.fixture
def options(base_url: str, tmp_path: Path) -> ClaudeAgentOptions:
    env = {
        "ANTHROPIC_BASE_URL": base_url.removesuffix("/openai/v1"),
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "HOME": str(tmp_path),
    }
    return ClaudeAgentOptions(
        model="agent", tools=[], setting_sources=[], max_turns=3, env=env, cwd=tmp_path
    )


def run(prompt: str, options: ClaudeAgentOptions) -> list[Message]:
    async def gather() -> list[Message]:
        return [message async for message in query(prompt=prompt, options=options)]

    return asyncio.run(asyncio.wait_for(gather(), 120))


def test_it_answers(options: ClaudeAgentOptions) -> None:
    messages = run(QUESTION, options)
    [said] = [message for message in messages if isinstance(message, AssistantMessage)]
    [result] = [message for message in messages if isinstance(message, ResultMessage)]
    assert [block.text for block in said.content] == [ANSWER]
    assert (result.result, result.is_error) == (ANSWER, False)
    assert result.usage and result.usage["output_tokens"] == 7


def test_it_runs_its_tools(options: ClaudeAgentOptions, model: Model) -> None:
    options.mcp_servers = {"room": create_sdk_mcp_server("room", tools=[lamp])}
    options.allowed_tools = ["mcp__room__lamp"]
    result = run("Light, please.", options)[-1]
    assert isinstance(result, ResultMessage)
    assert result.result == LIT
    assert "the lamp is on" in str(model.requests[-1]["messages"][-1])


def test_it_is_told_a_wrong_key(options: ClaudeAgentOptions) -> None:
    options.env |= {"ANTHROPIC_API_KEY": "wrong", "CLAUDE_CODE_MAX_RETRIES": "0"}
    with pytest.raises(Exception, match="401 The key is invalid"):
        run(QUESTION, options)
