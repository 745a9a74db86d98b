"""litellm, llm and smolagents, over chat completions."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from conftest import ANSWER, KEY, LIT, QUESTION

# It would otherwise fetch its table of prices.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402
import llm  # noqa: E402
import smolagents  # noqa: E402
from llm.default_plugins.openai_models import Chat  # noqa: E402

LAMP: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "lamp",
        "description": "Switches the lamp.",
        "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}},
    },
}
MESSAGES: list[Any] = [{"role": "user", "content": QUESTION}]


@pytest.fixture
def options(base_url: str) -> dict[str, Any]:
    return {"model": "openai/agent", "api_base": base_url, "api_key": KEY, "max_retries": 0}


def test_litellm_chats_plain_and_streamed(options: dict[str, Any]) -> None:
    plain = litellm.completion(messages=MESSAGES, **options)
    assert plain.choices[0].message.content == ANSWER
    assert plain.usage.total_tokens == 18
    stream = litellm.completion(messages=MESSAGES, stream=True, **options)
    assert "".join(part.choices[0].delta.content or "" for part in stream) == ANSWER


def test_litellm_calls_its_tools(options: dict[str, Any]) -> None:
    called = litellm.completion(messages=MESSAGES, tools=[LAMP], **options)
    message = called.choices[0].message
    [call] = message.tool_calls
    assert json.loads(call.function.arguments) == {"on": True}
    result = {"role": "tool", "tool_call_id": call.id, "content": "on"}
    said = [*MESSAGES, message.model_dump(exclude_none=True), result]
    answer = litellm.completion(messages=said, tools=[LAMP], **options)
    assert answer.choices[0].message.content == LIT


def test_litellm_answers_over_responses(options: dict[str, Any]) -> None:
    answer = litellm.responses(input=QUESTION, **options)
    assert answer.output_text == ANSWER


def test_litellm_embeds_by_the_model_of_the_documents(options: dict[str, Any]) -> None:
    texts = ["Owls hunt.", "Herons fish."]
    owls, herons = litellm.embedding(input=texts, **options).data
    assert owls["embedding"] != herons["embedding"]


def test_llm_chats_plain_and_streamed(base_url: str) -> None:
    model = Chat("agent", model_name="agent", api_base=base_url, supports_tools=True)
    model.key = KEY
    assert model.prompt(QUESTION, stream=False).text() == ANSWER
    assert "".join(model.prompt(QUESTION, stream=True)) == ANSWER


def test_llm_calls_its_tools(base_url: str) -> None:
    switched: list[bool] = []

    def lamp(on: bool) -> str:
        """Switches the lamp."""
        switched.append(on)
        return "on"

    model = Chat("agent", model_name="agent", api_base=base_url, supports_tools=True)
    model.key = KEY
    chain = model.chain("Light, please.", tools=[llm.Tool.function(lamp)])
    assert LIT in chain.text()
    assert switched == [True]


def smol(base_url: str) -> smolagents.OpenAIModel:
    return smolagents.OpenAIModel(model_id="agent", api_base=base_url, api_key=KEY)


def test_smolagents_chats_plain_and_streamed(base_url: str) -> None:
    messages = [smolagents.ChatMessage(role=smolagents.MessageRole.USER, content=QUESTION)]
    assert smol(base_url).generate(messages).content == ANSWER
    parts = smol(base_url).generate_stream(messages)
    assert "".join(part.content or "" for part in parts) == ANSWER


def test_smolagents_calls_its_tools(base_url: str) -> None:
    @smolagents.tool
    def lamp(on: bool) -> str:
        """Switches the lamp.

        Args:
            on: whether it is to be on
        """
        return "on" if on else "off"

    messages = [smolagents.ChatMessage(role=smolagents.MessageRole.USER, content=QUESTION)]
    message = smol(base_url).generate(messages, tools_to_call_from=[lamp])
    [call] = message.tool_calls or []
    assert call.function.name == "lamp"
