"""What results are beside dicts: shown, made a table of, and told with their responses."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from agent_server_client import AgentServer, Answer, AsyncAgentServer, Hits, QueryResult, protocol
from conftest import KEY, Proxy, RunningServer

HIT: Any = {
    "id": "1",
    "score": 0.5,
    "text": "Owls <b>hunt</b>\nat \x1b[31mnight.",
    "title": '<img src="x">',
    "documentId": "owls",
    "url": "https://example.org/?a=1&b=\"2",
    "page": 2,
    "pageEnd": 3,
    "start": 0,
    "end": 5,
    "metadata": {"kind": "bird"},
}
CITATION: Any = {"at": 5, "number": 2, "quotes": [{"text": "Owls <i>hunt</i>"}], "supported": False}


@pytest.fixture
def client(server: RunningServer) -> AgentServer:
    client = AgentServer(server.url, KEY)
    client.documents.replace("owls", {"title": "Owls", "text": "Owls hunt at night."}, wait=20)
    return client


def test_a_question_alone_is_a_request(client: AgentServer) -> None:
    found = client.query("When do owls hunt?")
    assert found == client.query({"query": "When do owls hunt?"})
    assert isinstance(found, dict) and json.loads(json.dumps(found)) == found
    assert "Owls hunt" in found["hits"][0]["text"]
    answer = client.chat("When do owls hunt?").result()
    assert answer == json.loads(json.dumps(answer))
    citation = answer["citations"][0]
    assert citation["number"] == 1 and citation["quotes"][0]["text"] == "Owls hunt at night."
    assert "Owls hunt at night." in answer._repr_html_()


def test_they_are_printed_shortly_and_without_control_characters(client: AgentServer) -> None:
    assert repr(client) == f"<AgentServer {client.base_url}>"
    assert KEY not in repr(vars(client._transport))
    hits = Hits([HIT, {**HIT, "text": "long " * 100}])
    assert repr(hits).splitlines() == [
        "<Hits: 2",
        '[1] <img src="x">, pages 2–3: Owls <b>hunt</b> at [31mnight.',
        f"[2] <img src=\"x\">, pages 2–3: {('long ' * 100)[:200]}…>",
    ]
    assert repr(QueryResult({"query": "owls", "hits": []})) == "<QueryResult of 'owls': <Hits: 0>>"
    answer = Answer({"text": "At night. [2]", "hits": hits, "citations": [CITATION]})
    assert repr(answer) == "<Answer: 'At night. [2]', 2 hits, 1 cited>"


def test_a_notebook_shows_them_and_their_text_is_no_markup() -> None:
    shown = Hits([HIT])._repr_html_()
    assert "Owls &lt;b&gt;hunt&lt;/b&gt;" in shown and "<img" not in shown
    assert 'href="https://example.org/?a=1&amp;b=&quot;2"' in shown
    assert "href" not in Hits([{**HIT, "url": "javascript:alert(1)"}])._repr_html_()
    answer = Answer({"text": "<script>", "hits": [HIT, HIT, HIT], "citations": [CITATION, CITATION]})
    shown = answer._repr_html_()
    assert "&lt;script&gt;" in shown and "<script" not in shown
    assert shown.count("<li") == 1 and '<li value="2">' in shown
    assert shown.count("Owls &lt;i&gt;hunt&lt;/i&gt;") == 1
    assert "does not seem to say this" in shown
    supported = Answer({**answer, "citations": [{**CITATION, "supported": True}]})
    assert "does not seem to say this" not in supported._repr_html_()


def test_they_become_tables_where_pandas_is(
    client: AgentServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Hits([HIT]).to_pandas()
    assert table.iloc[0]["metadata.kind"] == "bird"
    listed = client.documents.list(limit=1).to_pandas()
    assert "owls" in set(listed["id"]) and len(listed) == len(list(client.documents.list()))
    monkeypatch.setitem(sys.modules, "pandas", None)
    for made in (Hits([HIT]), client.documents.list()):
        with pytest.raises(ImportError, match="pip install pandas"):
            made.to_pandas()


def test_status_headers_and_request_id_come_with_a_result(client: AgentServer) -> None:
    found = client.with_response(client.query, "When do owls hunt?")
    assert found.data["hits"] and found.status == 200 and found.request_id
    assert found.headers["X-Request-Id"] == found.request_id
    made = client.with_response(client.documents.create, {"text": "Rails hide."}, wait=0)
    assert made.status == 202 and made.data["id"]
    answer = client.with_response(client.chat("When do owls hunt?").result)
    assert answer.headers["content-type"].startswith("text/event-stream") and answer.data["text"]
    with pytest.raises(TypeError, match="result"):
        client.with_response(client.chat, "When do owls hunt?")
    assert KEY not in repr(found)


def test_each_task_sees_its_own_response(server: RunningServer, client: AgentServer) -> None:
    async def use() -> None:
        async with AsyncAgentServer(server.url, KEY) as own:
            calls = (own.with_response(own.query, f"owls {number}") for number in range(8))
            outcomes = await asyncio.gather(*calls)
            assert [each.data["query"] for each in outcomes] == [f"owls {n}" for n in range(8)]
            assert len({each.request_id for each in outcomes}) == 8
            assert "owls" in set((await own.documents.list().to_pandas())["id"])

    asyncio.run(use())


def test_an_upload_tells_how_far_it_is_and_begins_again(proxy: Proxy, tmp_path: Path) -> None:
    client = AgentServer(proxy.url, KEY)
    content = b"Larks sing. " * 20_000
    path = tmp_path / "larks.txt"
    path.write_bytes(content)
    for source in (path, content, path.open("rb")):
        told: list[tuple[int, int | None]] = []
        proxy.faults = [503]
        client.documents.upload(source, name="larks.txt", on_progress=lambda *each: told.append(each))
        size = len(content)
        assert told[0] == (0, size) and told[-1] == (size, size) and told.count((0, size)) == 2
        first = told[: told.index((0, size), 1)]
        assert len(first) > 3 and first == sorted(first)


def test_a_pipe_is_uploaded_without_a_length(client: AgentServer) -> None:
    read, write = os.pipe()
    threading.Thread(target=lambda: (os.write(write, b"Wrens nest."), os.close(write))).start()
    told: list[tuple[int, int | None]] = []
    with os.fdopen(read, "rb") as pipe:
        made = client.documents.upload(pipe, name="wrens.txt", on_progress=lambda *each: told.append(each))
    assert b"".join(client.documents.file(made["id"])) == b"Wrens nest."
    assert told == [(0, None), (11, None)]
    with open(__file__) as text, pytest.raises(TypeError, match="'rb'"):
        client.documents.upload(text)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["a key of mine", "a-key-of-mine\n", "a-këy-of-mine", "“a-key-of-mine”"])
def test_a_key_that_cannot_be_one_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(ValueError, match="Copy it again") as refused:
        AgentServer("http://example.org", key)
    assert "mine" not in str(refused.value)


def test_what_waits_for_approval_is_in_the_answer() -> None:
    reader = protocol.AnswerReader()
    frames: list[Any] = [
        {"type": "approval-required", "calls": [{"id": "a"}], "state": "s"},
        {"type": "done", "hits": [], "finishReason": "approval_required"},
    ]
    for frame in frames:
        for line in (f"data: {json.dumps(frame)}", ""):
            list(reader.feed(line))
    assert reader.result()["approval"] == {"calls": [{"id": "a"}], "state": "s"}
