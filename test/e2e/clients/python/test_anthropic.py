"""Anthropic's own package for Python, and LangChain's for it."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import Anthropic, AuthenticationError, beta_tool
from conftest import ANSWER, HOURS, KEY, LIT, QUESTION, Model
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

LAMP: Any = {
    "name": "lamp",
    "description": "Switches the lamp.",
    "input_schema": {"type": "object", "properties": {"on": {"type": "boolean"}}},
}


@pytest.fixture(scope="module")
def url(base_url: str) -> str:
    return base_url.removesuffix("/openai/v1")


@pytest.fixture(scope="module")
def client(url: str) -> Anthropic:
    return Anthropic(base_url=url, api_key=KEY, max_retries=0)


def ask(client: Anthropic, messages: list[Any], *, stream: bool, **more: Any) -> Any:
    asked = {"model": "agent", "max_tokens": 1000, "messages": messages, **more}
    if not stream:
        return client.messages.create(**asked)
    with client.messages.stream(**asked) as events:
        return events.get_final_message()


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_it_reads_the_answer_and_what_it_cites(client: Anthropic, *, stream: bool) -> None:
    message = ask(client, [{"role": "user", "content": QUESTION}], stream=stream)
    [block] = message.content
    assert block.text == ANSWER
    [citation] = block.citations
    assert (citation.type, citation.document_title) == ("char_location", "hours.txt")
    assert citation.cited_text == HOURS
    assert (message.stop_reason, message.usage.input_tokens) == ("end_turn", 11)


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_it_calls_its_tools(client: Anthropic, model: Model, *, stream: bool) -> None:
    question = {"role": "user", "content": "Light, please."}
    calling = ask(client, [question], stream=stream, tools=[LAMP])
    [call] = calling.content
    assert (call.type, call.name, call.input) == ("tool_use", "lamp", {"on": True})
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "the lamp is on"}
    talk = [
        question,
        {"role": "assistant", "content": calling.content},
        {"role": "user", "content": [result]},
    ]
    assert ask(client, talk, stream=stream, tools=[LAMP]).content[0].text == LIT
    assert model.roles() == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_its_runner_is_told_that_no_thread_is_kept(client: Anthropic, model: Model, *, stream: bool) -> None:
    @beta_tool
    def lamp(on: bool) -> str:
        """Switches the lamp."""
        return f"the lamp is {'on' if on else 'off'}"

    question: Any = [{"role": "user", "content": "Light, please."}]
    asked: Any = {"model": "agent", "max_tokens": 1000, "messages": question, "tools": [lamp]}
    message = client.beta.messages.tool_runner(**asked, stream=stream).until_done()
    assert [block.text for block in message.content if block.type == "text"] == [LIT]
    assert model.roles() == ["system", "user", "assistant", "tool"]


def test_it_lists_the_agent_as_a_model(client: Anthropic) -> None:
    models = list(client.models.list(limit=1))
    assert (models[0].type, models[0].id) == ("model", "agent")
    assert models[0].created_at.year >= 1970


def test_it_sends_instructions_and_images(client: Anthropic, model: Model) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    content = [{"type": "image", "source": source}, {"type": "text", "text": QUESTION}]
    ask(client, [{"role": "user", "content": content}], stream=False, system="Be brief.")
    sent = str(model.requests[-1])
    assert "Be brief." in sent
    assert "data:image/png;base64,iVBORw0KGgo=" in sent


def test_it_counts_tokens(client: Anthropic) -> None:
    asked: Any = [{"role": "user", "content": QUESTION}]
    assert client.messages.count_tokens(model="agent", messages=asked).input_tokens > 5


def test_it_is_told_a_wrong_key(url: str) -> None:
    stranger = Anthropic(base_url=url, api_key="wrong", max_retries=0)
    with pytest.raises(AuthenticationError, match="The key is invalid"):
        ask(stranger, [{"role": "user", "content": QUESTION}], stream=False)


@tool
def lamp(on: bool) -> str:
    """Switches the lamp."""
    return f"the lamp is {'on' if on else 'off'}"


def langchain(chat: Any, messages: Any, *, stream: bool) -> Any:
    if not stream:
        return chat.invoke(messages)
    first, *others = chat.stream(messages)
    return sum(others, first)


def agent(url: str) -> ChatAnthropic:
    return ChatAnthropic(model="agent", base_url=url, api_key=KEY, max_retries=0)


@pytest.mark.parametrize("stream", [False, True], ids=["invoked", "streamed"])
def test_langchain_reads_the_answer_and_what_it_cites(url: str, *, stream: bool) -> None:
    message = langchain(agent(url), QUESTION, stream=stream)
    assert message.text == ANSWER
    assert message.usage_metadata and message.usage_metadata["output_tokens"] == 7
    assert message.usage_metadata["input_tokens"] > 5
    [block] = [each for each in message.content_blocks if each["type"] == "text"]
    assert [each["title"] for each in block["annotations"]] == ["hours.txt"]


@pytest.mark.parametrize("stream", [False, True], ids=["invoked", "streamed"])
def test_langchain_calls_its_tools(url: str, *, stream: bool) -> None:
    chat = agent(url).bind_tools([lamp])
    question = HumanMessage("Light, please.")
    calling = langchain(chat, [question], stream=stream)
    [call] = calling.tool_calls
    assert (call["name"], call["args"]) == ("lamp", {"on": True})
    result = ToolMessage(lamp.invoke(call["args"]), tool_call_id=call["id"])
    assert langchain(chat, [question, calling, result], stream=stream).text == LIT
