"""LangChain for Python."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from conftest import ANSWER, KEY, LIT, QUESTION, Model
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings


@tool
def lamp(on: bool) -> str:
    """Switches the lamp."""
    return f"the lamp is {'on' if on else 'off'}"


def agent(base_url: str, *, responses: bool = True) -> ChatOpenAI:
    return ChatOpenAI(
        model="agent",
        base_url=base_url,
        api_key=KEY,
        use_responses_api=responses,
        stream_usage=True,
        max_retries=0,
    )


def ask(chat: Any, messages: str | list[BaseMessage], *, stream: bool) -> AIMessage:
    if not stream:
        return chat.invoke(messages)
    first, *others = chat.stream(messages)
    return sum(others, first)


@pytest.mark.parametrize("stream", [False, True], ids=["invoked", "streamed"])
@pytest.mark.parametrize("responses", [True, False], ids=["responses", "chat-completions"])
def test_it_reads_the_answer(base_url: str, *, stream: bool, responses: bool) -> None:
    message = ask(agent(base_url, responses=responses), QUESTION, stream=stream)
    assert message.text == ANSWER
    assert message.usage_metadata and message.usage_metadata["total_tokens"] == 18
    if responses:
        [block] = [each for each in message.content_blocks if each["type"] == "text"]
        assert [each["title"] for each in block["annotations"]] == ["hours.txt"]


@pytest.mark.parametrize("stream", [False, True], ids=["invoked", "streamed"])
@pytest.mark.parametrize("responses", [True, False], ids=["responses", "chat-completions"])
def test_it_calls_its_tools(base_url: str, *, stream: bool, responses: bool) -> None:
    chat = agent(base_url, responses=responses).bind_tools([lamp])
    question = HumanMessage("Light, please.")
    calling = ask(chat, [question], stream=stream)
    [call] = calling.tool_calls
    assert (call["name"], call["args"]) == ("lamp", {"on": True})
    result = ToolMessage(lamp.invoke(call["args"]), tool_call_id=call["id"])
    assert ask(chat, [question, calling, result], stream=stream).text == LIT


def test_it_goes_on_from_a_response(base_url: str, model: Model) -> None:
    first = agent(base_url).invoke(QUESTION)
    before = first.response_metadata["id"]
    agent(base_url).invoke("And on Sundays?", previous_response_id=before)
    assert model.roles() == ["system", "user", "assistant", "user"]


def test_it_searches_the_store_that_its_file_search_names(base_url: str) -> None:
    searching = agent(base_url).bind_tools(
        [{"type": "file_search", "vector_store_ids": ["vs_birds"]}]
    )
    message = searching.invoke("What do owls do at night?")
    assert '"owls.txt"' in json.dumps(message.content)


# By default it sends tokens; litellm holds the vocabulary that tiktoken would otherwise fetch.
@pytest.mark.parametrize("as_tokens", [True, False], ids=["tokens", "texts"])
def test_it_embeds_by_the_model_of_the_documents(
    base_url: str, model: Model, monkeypatch: pytest.MonkeyPatch, *, as_tokens: bool
) -> None:
    vocabulary = files("litellm") / "litellm_core_utils/tokenizers"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    embeddings = OpenAIEmbeddings(
        model="any", base_url=base_url, api_key=KEY, check_embedding_ctx_length=as_tokens
    )
    owls, herons = embeddings.embed_documents(["Owls hunt.", "Herons fish."])
    assert len(owls) > 1
    assert owls != herons
    assert embeddings.embed_query("Owls hunt.") == owls
    assert model.embedded[-1] == ["Owls hunt."]
