"""The openai package: what it reads, and every frame held to the schema that it publishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import ANSWER, KEY, LIT, QUESTION, Model
from openai import NotFoundError, OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

LAMP = {
    "type": "function",
    "name": "lamp",
    "description": "Switches the lamp.",
    "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}, "required": ["on"]},
    "strict": False,
}
CHAT_LAMP = {"type": "function", "function": {"name": "lamp", "parameters": LAMP["parameters"]}}
ASK: dict[str, Any] = {"model": "agent", "input": QUESTION}
MESSAGES: list[Any] = [{"role": "user", "content": QUESTION}]


@pytest.fixture
def client(base_url: str) -> OpenAI:
    return OpenAI(base_url=base_url, api_key=KEY, max_retries=0)


def test_chat_completions_are_plain_and_streamed(client: OpenAI) -> None:
    plain = client.chat.completions.create(model="agent", messages=MESSAGES)
    assert plain.choices[0].message.content == ANSWER
    assert plain.usage and plain.usage.total_tokens == 18
    stream = client.chat.completions.create(model="agent", messages=MESSAGES, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in stream if part.choices) == ANSWER
    called = client.chat.completions.create(model="agent", messages=MESSAGES, tools=[CHAT_LAMP])
    [call] = called.choices[0].message.tool_calls or []
    assert call.type == "function" and json.loads(call.function.arguments) == {"on": True}


def test_a_response_is_plain_and_streamed_with_what_it_cites(client: OpenAI) -> None:
    plain = client.responses.create(**ASK)
    assert plain.output_text == ANSWER
    with client.responses.stream(**ASK) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(deltas) == final.output_text == ANSWER
    for response in (plain, final):
        message = response.output[-1]
        assert message.type == "message" and message.content[0].type == "output_text"
        [citation] = message.content[0].annotations
        assert citation.type == "file_citation"
        assert (citation.filename, citation.index) == ("hours.txt", ANSWER.index("[1]"))


def test_its_functions_are_called_and_answered_plain_and_streamed(client: OpenAI) -> None:
    for stream in (False, True):
        if stream:
            with client.responses.stream(**ASK, tools=[LAMP]) as events:
                called = events.get_final_response()
        else:
            called = client.responses.create(**ASK, tools=[LAMP])
        call = called.output[-1]
        assert call.type == "function_call" and json.loads(call.arguments) == {"on": True}
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "on"}
        answer = client.responses.create(
            model="agent", input=[result], previous_response_id=called.id, tools=[LAMP]
        )
        assert answer.output_text == LIT


def test_a_response_is_gone_on_from(client: OpenAI, model: Model) -> None:
    first = client.responses.create(**ASK)
    client.responses.create(model="agent", input="And on Sundays?", previous_response_id=first.id)
    assert model.roles() == ["system", "user", "assistant", "user"]
    assert client.responses.retrieve(first.id).output_text == ANSWER


def test_a_structured_answer_is_parsed(client: OpenAI) -> None:
    class Hours(BaseModel):
        hour: int

    assert client.responses.parse(**ASK, text_format=Hours).output_parsed == Hours(hour=10)


def test_files_are_uploaded_polled_searched_and_deleted(client: OpenAI) -> None:
    store = client.vector_stores.create(name="waders")
    texts = {"herons.txt": b"Herons fish by day.", "storks.txt": b"Storks stand on one leg."}
    for name, text in texts.items():
        file = client.vector_stores.files.upload_and_poll(
            vector_store_id=store.id, file=(name, text), poll_interval_ms=50
        )
        assert file.status == "completed"
    found = client.vector_stores.search(store.id, query="Who fishes by day?", max_num_results=1)
    assert [(hit.filename, hit.content[0].text) for hit in found] == [
        ("herons.txt", "Herons fish by day.")
    ]
    listed = [file.id for file in client.vector_stores.files.list(store.id, limit=1)]
    assert len(listed) == len(texts)
    for file_id in listed:
        assert client.files.delete(file_id).deleted
    with pytest.raises(NotFoundError):
        client.files.retrieve(listed[0])


def test_a_store_is_renamed_read_and_deleted(client: OpenAI) -> None:
    stores = client.vector_stores
    file = stores.files.upload_and_poll(
        vector_store_id="vs_newts", file=("newts.txt", b"Newts swim."), poll_interval_ms=50
    )
    renamed = stores.update("vs_newts", name="Our amphibians")
    assert (renamed.id, renamed.name) == ("vs_newts", "Our amphibians")
    assert renamed.file_counts.completed == 1
    [part] = stores.files.content(file.id, vector_store_id=renamed.id)
    assert part.text == "Newts swim."
    changed = stores.files.update(file.id, vector_store_id=renamed.id, attributes={"year": 2026})
    assert changed.attributes == {"collection": "newts", "year": 2026}
    assert client.files.content(file.id).read() == b"Newts swim."
    assert stores.delete(renamed.id).deleted
    assert client.files.delete(file.id).deleted


def test_input_tokens_are_counted(client: OpenAI) -> None:
    assert client.responses.input_tokens.count(model="agent", input=QUESTION).input_tokens > 0


def test_several_files_are_uploaded_and_put_into_a_store_at_once(client: OpenAI) -> None:
    texts = {f"bird-{number}.txt": f"Bird {number} sings.".encode() for number in range(5)}
    batches = client.vector_stores.file_batches
    batch = batches.upload_and_poll(
        vector_store_id="vs_singers", files=list(texts.items()), poll_interval_ms=50
    )
    assert (batch.status, batch.file_counts.completed) == ("completed", len(texts))
    listed = batches.list_files(batch.id, vector_store_id="vs_singers", limit=2)
    assert len({file.id for file in listed}) == len(texts)


def test_texts_are_embedded(client: OpenAI) -> None:
    owls, herons = client.embeddings.create(model="any", input=["Owls hunt.", "Herons fish."]).data
    assert len(owls.embedding) > 1
    assert owls.embedding != herons.embedding


def frames(client: OpenAI, path: str, body: dict[str, Any]) -> Iterator[str]:
    """The data of each event as it comes, but for the closing mark."""
    with client._client.stream(  # noqa: SLF001 - as it comes, not as the package reads it
        "POST", path, json={**body, "stream": True}, headers={"authorization": f"Bearer {KEY}"}
    ) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("data: ") and line != "data: [DONE]":
                yield line.removeprefix("data: ")


@pytest.mark.parametrize(
    ("more", "types"),
    [
        ({}, {"response.output_text.delta", "response.output_text.annotation.added"}),
        ({"include": ["file_search_call.results"]}, {"response.file_search_call.completed"}),
        ({"tools": [LAMP]}, {"response.function_call_arguments.delta"}),
        (
            {"input": [{"role": "user", "content": QUESTION}], "store": False},
            {"response.completed"},
        ),
    ],
    ids=["text", "results", "function", "unstored"],
)
def test_every_event_fits_the_published_schema(
    client: OpenAI, more: dict[str, Any], types: set[str]
) -> None:
    event_type: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
    events = [
        event_type.validate_json(data, strict=True)
        for data in frames(client, "responses", {**ASK, **more})
    ]
    assert {"response.created", "response.completed"} | types <= {event.type for event in events}
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_plain_answers_and_chunks_fit_the_published_schema(client: OpenAI) -> None:
    raw = client.responses.with_raw_response.create(**ASK, tools=[LAMP])
    assert Response.model_validate_json(raw.content, strict=True).output
    completion = client.chat.completions.with_raw_response.create(model="agent", messages=MESSAGES)
    assert ChatCompletion.model_validate_json(completion.content, strict=True).choices
    body = {"model": "agent", "messages": MESSAGES, "stream_options": {"include_usage": True}}
    for tools in ({}, {"tools": [CHAT_LAMP]}):
        chunks = [
            ChatCompletionChunk.model_validate_json(data, strict=True)
            for data in frames(client, "chat/completions", {**body, **tools})
        ]
        assert chunks[-1].usage
