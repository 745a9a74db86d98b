"""Ollama's own package for Python, and LangChain's for it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import ANSWER, KEY, LIT, QUESTION, Model
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama, OllamaEmbeddings
from ollama import Client, ResponseError

HEADERS = {"authorization": f"Bearer {KEY}"}
MESSAGES = [{"role": "user", "content": QUESTION}]


@pytest.fixture(scope="module")
def host(base_url: str) -> str:
    return base_url.removesuffix("/openai/v1")


@pytest.fixture(scope="module")
def client(host: str) -> Client:
    return Client(host=host, headers=HEADERS)


def lamp(on: bool) -> str:
    """Switches the lamp.

    Args:
      on: Whether it shines.
    """
    return f"the lamp is {'on' if on else 'off'}"


def test_it_chats_plain_and_streamed(client: Client) -> None:
    plain = client.chat(model="agent", messages=MESSAGES)
    assert plain.message.content == ANSWER
    assert (plain.done_reason, plain.prompt_eval_count, plain.eval_count) == ("stop", 11, 7)
    parts = list(client.chat(model="agent", messages=MESSAGES, stream=True))
    assert "".join(part.message.content or "" for part in parts) == ANSWER
    assert parts[-1].done


def test_it_generates_plain_and_streamed(client: Client) -> None:
    assert client.generate(model="agent", prompt=QUESTION).response == ANSWER
    parts = client.generate(model="agent", prompt=QUESTION, stream=True)
    assert "".join(part.response for part in parts) == ANSWER


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_it_calls_its_tools(client: Client, model: Model, *, stream: bool) -> None:
    def ask(messages: list[Any]) -> Any:
        if not stream:
            return client.chat(model="agent", messages=messages, tools=[lamp]).message
        parts = list(client.chat(model="agent", messages=messages, tools=[lamp], stream=True))
        return next((part.message for part in parts if part.message.tool_calls), None) or parts

    question = {"role": "user", "content": "Light, please."}
    calling = ask([question])
    [call] = calling.tool_calls
    assert (call.function.name, call.function.arguments) == ("lamp", {"on": True})
    result = {"role": "tool", "tool_name": "lamp", "content": lamp(**call.function.arguments)}
    answer = ask([question, calling, result])
    text = answer.content if not stream else "".join(part.message.content or "" for part in answer)
    assert text == LIT
    assert model.roles() == ["system", "user", "assistant", "tool"]


def test_it_lists_and_shows_the_agent_and_embeds(client: Client) -> None:
    names = [each.model for each in client.list().models]
    assert names[0] == "agent:latest"
    assert "agent:birds" in names
    assert "tools" in (client.show("agent").capabilities or [])
    owls, herons = client.embed(model="any", input=["Owls hunt.", "Herons fish."]).embeddings
    assert owls != herons


def test_it_is_told_what_is_wrong(host: str) -> None:
    stranger = Client(host=host, headers={"authorization": "Bearer wrong"})
    with pytest.raises(ResponseError, match="The key is invalid") as refused:
        stranger.chat(model="agent", messages=MESSAGES)
    assert refused.value.status_code == 401


def agent(host: str) -> ChatOllama:
    return ChatOllama(model="agent", base_url=host, client_kwargs={"headers": HEADERS})


@pytest.mark.parametrize("stream", [False, True], ids=["invoked", "streamed"])
def test_langchain_reads_the_answer(host: str, *, stream: bool) -> None:
    if stream:
        first, *others = agent(host).stream(QUESTION)
        message = sum(others, first)
    else:
        message = agent(host).invoke(QUESTION)
    assert message.text == ANSWER
    assert message.usage_metadata and message.usage_metadata["total_tokens"] == 18


def test_langchain_calls_its_tools(host: str) -> None:
    chat = agent(host).bind_tools([tool(lamp)])
    question = HumanMessage("Light, please.")
    calling = chat.invoke([question])
    [call] = calling.tool_calls
    assert (call["name"], call["args"]) == ("lamp", {"on": True})
    result = ToolMessage(json.dumps(lamp(**call["args"])), tool_call_id=call["id"], name="lamp")
    assert chat.invoke([question, calling, result]).text == LIT


def test_langchain_embeds_by_the_model_of_the_documents(host: str) -> None:
    embeddings = OllamaEmbeddings(
        model="any", base_url=host, client_kwargs={"headers": HEADERS}
    )
    owls, herons = embeddings.embed_documents(["Owls hunt.", "Herons fish."])
    assert owls != herons
