"""AutoGen, and AG2 which came of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import ag2
import httpx2
import pytest
from ag2.config import OpenAIConfig, OpenAIResponsesConfig
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import ModelClientStreamingChunkEvent
from autogen_core.models import ModelFamily, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from conftest import ANSWER, KEY, LIT, QUESTION

pytestmark = pytest.mark.anyio
KINDS = pytest.mark.parametrize(
    "kind", [OpenAIConfig, OpenAIResponsesConfig], ids=["chat-completions", "responses"]
)


def lamp(on: bool) -> str:
    """Switches the lamp."""
    return "on" if on else "off"


@pytest.fixture
async def client(base_url: str) -> AsyncIterator[OpenAIChatCompletionClient]:
    able = {
        "vision": False,
        "function_calling": True,
        "json_output": True,
        "structured_output": True,
        "family": ModelFamily.UNKNOWN,
    }
    client = OpenAIChatCompletionClient(
        model="agent", base_url=base_url, api_key=KEY, model_info=able, max_retries=0
    )
    yield client
    await client.close()


async def test_autogen_chats_plain_and_streamed(client: OpenAIChatCompletionClient) -> None:
    plain = await client.create([UserMessage(content=QUESTION, source="user")])
    assert plain.content == ANSWER
    assert plain.usage.prompt_tokens == 11
    agent = AssistantAgent("asking", client, model_client_stream=True)
    events = [event async for event in agent.run_stream(task=QUESTION)]
    parts = [e.content for e in events if isinstance(e, ModelClientStreamingChunkEvent)]
    assert "".join(parts) == events[-1].messages[-1].content == ANSWER


async def test_autogen_runs_its_tools(client: OpenAIChatCompletionClient) -> None:
    agent = AssistantAgent("switching", client, tools=[lamp], reflect_on_tool_use=True)
    result = await agent.run(task="Light, please.")
    assert result.messages[-1].content == LIT


@pytest.fixture
async def options(base_url: str) -> AsyncIterator[dict[str, Any]]:
    async with httpx2.AsyncClient() as http:
        where = {"base_url": base_url, "api_key": KEY, "http_client": http}
        yield {"model": "agent", "max_retries": 0, **where}


@KINDS
async def test_ag2_answers_plain_and_streamed(kind: type, options: dict[str, Any]) -> None:
    plain = await ag2.Agent("asking", config=kind(**options)).ask(QUESTION)
    assert plain.body == ANSWER
    streamed = await ag2.Agent("asking", config=kind(**options, streaming=True)).ask(QUESTION)
    assert streamed.body == ANSWER


@KINDS
async def test_ag2_runs_its_tools(kind: type, options: dict[str, Any]) -> None:
    agent = ag2.Agent("switching", config=kind(**options), tools=[lamp])
    assert (await agent.ask("Light, please.")).body == LIT
