"""Haystack's generators and embedders for OpenAI."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ANSWER, KEY, LIT, QUESTION
from haystack.components.agents import Agent
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.dataclasses import ChatMessage, StreamingChunk
from haystack.tools import tool
from haystack.utils import Secret

KINDS = pytest.mark.parametrize(
    "kind",
    [OpenAIChatGenerator, OpenAIResponsesChatGenerator],
    ids=["chat-completions", "responses"],
)


@pytest.fixture
def options(base_url: str) -> dict[str, Any]:
    return {"model": "agent", "api_key": Secret.from_token(KEY), "api_base_url": base_url}


@KINDS
def test_it_answers_plain_and_streamed(kind: type, options: dict[str, Any]) -> None:
    messages = [ChatMessage.from_user(QUESTION)]
    [plain] = kind(**options).run(messages)["replies"]
    assert plain.text == ANSWER
    parts: list[str] = []

    def take(chunk: StreamingChunk) -> None:
        parts.append(chunk.content)

    [streamed] = kind(**options, streaming_callback=take).run(messages)["replies"]
    assert "".join(parts) == streamed.text == ANSWER
    assert len(parts) > 1


@KINDS
def test_its_agent_runs_its_tools(kind: type, options: dict[str, Any]) -> None:
    switched: list[bool] = []

    @tool
    def lamp(on: bool) -> str:
        """Switches the lamp."""
        switched.append(on)
        return "on"

    agent = Agent(chat_generator=kind(**options), tools=[lamp])
    said = agent.run(messages=[ChatMessage.from_user("Light, please.")])
    assert said["last_message"].text == LIT
    assert switched == [True]


def test_it_reads_what_an_answer_cites_of_the_store_that_its_file_search_names(
    options: dict[str, Any],
) -> None:
    search = {"type": "file_search", "vector_store_ids": ["vs_birds"]}
    generator = OpenAIResponsesChatGenerator(**options, tools=[search])
    [answer] = generator.run([ChatMessage.from_user("What do owls do at night?")])["replies"]
    assert "owls.txt" in repr(answer.meta)


def test_it_embeds_by_the_model_of_the_documents(options: dict[str, Any]) -> None:
    embedder = OpenAITextEmbedder(**{**options, "model": "any"})
    owls, herons = (embedder.run(text)["embedding"] for text in ("Owls hunt.", "Herons fish."))
    assert len(owls) > 1
    assert owls != herons
