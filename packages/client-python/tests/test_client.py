"""The synchronous client against the real server."""

from __future__ import annotations

import io
import pickle
import socket
import tempfile
import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import sleep
from typing import Any, cast

import pytest
from agent_server_client import (
    AgentServer,
    AgentServerError,
    AuthenticationError,
    ConflictError,
    ConnectionError,
    IngestionError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    StreamInterruptedError,
    TimeoutError,
    UpstreamError,
    protocol,
)
from agent_server_client.contract import AgentQuestion, EvaluationRun
from agent_server_client.errors import to_error
from conftest import KEY, Proxy, RunningServer, start_server

QUESTION = "When do owls hunt?"


@pytest.fixture
def client(server: RunningServer) -> AgentServer:
    return AgentServer(server.url, KEY)


def test_documents_are_created_read_replaced_listed_and_deleted(client: AgentServer) -> None:
    documents = client.documents
    text = {"title": "Owls", "text": "Owls hunt at night.", "metadata": {"kind": "bird"}}
    created = documents.create(text, wait=20)
    assert created["status"] == "ready"
    assert documents.get(created["id"])["title"] == "Owls"
    documents.replace("herons", {"text": "Herons fish."}, wait=20)
    assert documents.wait_until_ready("herons")["revision"] == 1
    assert {"herons", created["id"]} <= {each["id"] for each in documents.list(limit=1)}
    first = documents.list(limit=1, total=True).page()
    assert (len(first), first.total) == (1, len([*documents.list()]))
    assert {each["id"] for each in documents.list(limit=1).page(first.next_cursor)} != {first[0]["id"]}
    assert [each["text"] for each in documents.chunks("herons")] == ["Herons fish."]
    found = client.query({"query": "hunt", "filter": {"field": "kind", "eq": "bird"}})
    assert [hit["documentId"] for hit in found["hits"]] == [created["id"]]
    results = documents.batch([{"text": "Ducks swim."}, {"id": "geese", "text": "Geese fly."}])
    assert results[1]["id"] == "geese"
    documents.delete("herons")
    with pytest.raises(NotFoundError) as missing:
        documents.get("herons")
    assert (missing.value.status, missing.value.code) == (404, "document_not_found")
    assert missing.value.request_id


def test_files_are_uploaded_and_downloaded_byte_for_byte(client: AgentServer, tmp_path: Path) -> None:
    path = tmp_path / "swans.md"
    path.write_bytes(b"Swans glide.")
    for source in (path, str(path), b"Swans glide.", io.BytesIO(b"Swans glide."), path.open("rb")):
        made = client.documents.upload(source, name="swans.md", metadata={"year": 2026}, wait=20)
        assert made["status"] == "ready"
        assert b"".join(client.documents.file(made["id"])) == b"Swans glide."
        assert client.documents.get(made["id"])["metadata"] == {"year": 2026}
        client.documents.delete(made["id"])
    broken = client.documents.upload(b"%PDF-1.7 no", name="broken.pdf", id="broken")
    with pytest.raises(IngestionError) as failure:
        client.documents.wait_until_ready(broken["id"])
    assert failure.value.code == "damaged_file"
    assert client.documents.retry("broken")["id"] == "broken"


def test_small_files_are_uploaded_together(client: AgentServer, tmp_path: Path) -> None:
    path = tmp_path / "grebes.md"
    path.write_bytes(b"Grebes dive.")
    first, second, third, empty = client.documents.upload_batch(
        [
            {"file": path, "title": "Grebes – how they dive", "metadata": {"year": 2026}},
            {"file": b"Coots swim.", "name": "c\u00f6\"ots.txt", "type": "text/plain", "collection": "lake"},
            {"file": io.BytesIO(b"Rails hide."), "name": "rails.txt", "idempotencyKey": "python-rails"},
            {"file": b"", "name": "empty.txt"},
        ]
    )
    assert empty["error"]["code"] == "invalid_request"
    grebes, coots, rails = (client.documents.wait_until_ready(each["id"]) for each in (first, second, third))
    assert (grebes["title"], grebes["metadata"]) == ("Grebes – how they dive", {"year": 2026})
    assert b"".join(client.documents.file(grebes["id"])) == b"Grebes dive."
    assert (coots["file"]["name"], coots["metadata"]) == ("c\u00f6\"ots.txt", {"collection": "lake"})
    assert "metadata" not in rails
    again = client.documents.upload_batch(
        [{"file": b"Rails hide.", "name": "rails.txt", "idempotencyKey": "python-rails"}]
    )
    assert again[0]["id"] == rails["id"]
    with pytest.raises(InvalidRequestError) as refused:
        client.documents.upload_batch([{"file": b"A.", "name": "a.txt"}] * 101)
    assert refused.value.param == "file"
    with path.open() as text, pytest.raises(TypeError, match="reading bytes"):
        client.documents.upload_batch([{"file": text}])  # type: ignore[typeddict-item]


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        place = f"http://127.0.0.1:{self.server.server_address[1]}"
        body = {"/sitemap.txt": f"{place}/cranes\n{place}/lost", "/cranes": "Cranes dance."}.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        self.wfile.write((body or "").encode())

    def log_message(self, *_: object) -> None:
        pass


def test_the_pages_of_a_sitemap_become_documents_in_a_collection_that_can_be_read(client: AgentServer) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{site.server_address[1]}"
        first, *results = client.documents.add_site({"url": f"{url}/sitemap.txt", "collection": "cranes"})
        assert first == {"pages": 2, "left": 0}
        added = {line["url"]: line for line in results if "url" in line}
        assert client.documents.wait_until_ready(cast(Any, added[f"{url}/cranes"])["id"])["status"] == "ready"
        assert cast(Any, added[f"{url}/lost"])["error"]["code"] == "fetch_failed"
        assert client.documents.collection("cranes")["documents"] == 1
        with pytest.raises(UpstreamError):
            next(iter(client.documents.add_site({"url": f"{url}/none.xml"})))
        site.shutdown()


def test_somebody_who_is_not_there_cannot_be_removed(client: AgentServer) -> None:
    with pytest.raises(NotFoundError):
        client.admin.people.delete("user:nobody", dry_run=True, hand_to="user:ada")


def test_documents_are_selected_by_their_files(client: AgentServer) -> None:
    content = b"# Terns\n\nTerns fly far."
    made = client.documents.upload(content, name="terns.md", type="text/markdown", id="terns", wait=20)
    digest = sha256(content).hexdigest()
    for chosen in ({"sha256": digest}, {"media_type": "text/markdown", "sha256": digest}):
        assert [each["id"] for each in client.documents.list(**chosen)] == ["terns"]
    for other in ({"sha256": sha256(b"").hexdigest()}, {"media_type": "image/*", "sha256": digest}):
        assert list(client.documents.list(**other)) == []
    assert client.documents.delete_all(sha256=digest, dry_run=True)["matched"] == 1
    client.documents.delete(made["id"])


def test_an_answer_comes_as_events_and_whole(client: AgentServer) -> None:
    client.documents.replace("owls", {"title": "Owls", "text": "Owls hunt at night."}, wait=20)
    stream = client.chat({"messages": [{"role": "user", "content": QUESTION}]})
    types = [event["type"] for event in stream]
    assert types[-1] == "done" and "text-delta" in types
    result = client.chat({"messages": [{"role": "user", "content": QUESTION}]}).result()
    assert "Owls hunt at night. [1]" in result["text"]
    assert result["hits"] and result["artifacts"] == []


def test_an_answer_that_is_cut_off_tells_the_text_so_far(proxy: Proxy) -> None:
    client = AgentServer(proxy.url, KEY)
    client.documents.replace("owls", {"text": "Owls hunt at night. " * 50}, wait=20)
    proxy.faults = ["cut"]
    with pytest.raises(StreamInterruptedError) as failure:
        client.chat({"messages": [{"role": "user", "content": QUESTION}]}).result()
    assert failure.value.text.startswith("From")
    assert failure.value.request_id and failure.value.request_id in str(failure.value)
    copy = pickle.loads(pickle.dumps(failure.value))
    assert (str(copy), copy.text) == (str(failure.value), failure.value.text)
    assert len([path for _, path, _ in proxy.requests if path == "/chat"]) == 1


def test_conversations_are_stored_followed_and_rated(client: AgentServer) -> None:
    client.documents.replace("owls", {"title": "Owls", "text": "Owls hunt at night."}, wait=20)
    conversations = client.conversations
    ids = [conversations.create({"metadata": {"number": str(n)}})["id"] for n in range(3)]
    assert set(ids) <= {each["id"] for each in conversations.list(limit=1)}
    for question in (QUESTION, "Do owls hunt at night?"):
        message = {"role": "user", "content": question}
        client.chat({"messages": [message], "conversation": {"id": ids[0]}}).result()
    items = list(conversations.items(ids[0]))
    assert len(items) == 4 and {each["id"] for each in conversations.items(ids[0], branches=True)} == {
        each["id"] for each in items
    }
    answer = conversations.get(ids[0])["last_item_id"]
    assert answer == items[-1]["id"]
    assert "Owls hunt at night." in conversations.follow(ids[0], answer).text()
    assert conversations.update(ids[0], {"title": "Hunting"})["title"] == "Hunting"
    assert [each["id"] for each in conversations.list(search="Hunting")] == [ids[0]]

    given = client.feedback.give({"conversationId": ids[0], "answerId": answer, "rating": "up"})
    assert given["question"] == "Do owls hunt at night?"
    assert [each["id"] for each in client.feedback.list(rating="up", conversation_id=ids[0])] == [given["id"]]
    assert list(client.feedback.list(rating="down", conversation_id=ids[0])) == []
    client.feedback.delete(given["id"])
    assert list(client.feedback.list(conversation_id=ids[0])) == []
    with pytest.raises(AgentServerError):
        conversations.cancel(ids[0], "none")
    conversations.delete(ids[0])
    with pytest.raises(NotFoundError):
        conversations.get(ids[0])


def evaluated(client: AgentServer) -> EvaluationRun:
    run = client.evaluation.runs.create({"name": "By words", "mode": "lexical"})
    for _ in range(200):
        report = client.evaluation.runs.get(run["id"])
        if report["state"] != "running":
            assert report["questions"]["search"][0]["text"] == "Who hoots?"
            return run
        sleep(0.1)
    raise AssertionError("The evaluation does not end")


def test_judged_questions_are_kept_and_asked(client: AgentServer) -> None:
    questions = client.evaluation.questions
    made = questions.create({"question": "Who hoots?", "relevant": [{"documentId": "owls"}]})
    kept = questions.put("counted", {"question": "Who counts owls?", "facts": []})
    assert [each["id"] for each in questions.list()] == [made["id"], "counted"]
    changed = questions.import_([{"id": "counted", "question": "Who counts?", "facts": []}])
    assert [each["question"] for each in changed] == ["Who counts?"]
    assert changed[0]["createdAt"] == kept["createdAt"]
    runs = client.evaluation.runs
    first, second = evaluated(client), evaluated(client)
    assert [each["id"] for each in runs.list()] == [second["id"], first["id"]]
    assert runs.cancel(first["id"])["state"] == "done"
    assert runs.compare(first["id"], second["id"])["now"]["id"] == second["id"]
    for id in (made["id"], "counted"):
        questions.delete(id)
    assert questions.list() == []


def test_the_agent_and_the_server_say_what_they_are(client: AgentServer) -> None:
    assert client.agent.get()["name"] == "agent"
    assert client.agent.tools()
    assert client.agent.capabilities()["retrieval"] == "lexical"
    assert client.agent.skills.reload()["skills"] is not None
    assert client.admin.health() == {"status": "ok"}
    assert client.admin.readiness()["status"] == "ready"
    assert client.admin.metrics().startswith("# HELP")
    assert client.admin.settings.get()["digest"]
    assert client.admin.agent.check("{")["mistakes"]
    assert client.admin.agent.get()["mistakes"] == []
    with pytest.raises(NotFoundError):
        client.agent.mcp.test("none")
    admin = client.admin
    assert admin.server()["state"] == "running"
    assert admin.folders() == []
    target = admin.deployment_targets()[0]["name"]
    assert admin.deploy({"target": target})["target"] == target
    assert admin.models.local() is not None
    nowhere = {"RERANK_BASE_URL": "http://127.0.0.1:9/v1", "RERANK_MODEL": "none", "RERANK_API_KEY": "none"}
    tested = admin.models.test({"kind": "reranking", "set": nowhere})
    assert not tested["ok"] and tested["error"]
    with pytest.raises(AgentServerError):
        admin.models.list({"kind": "reranking", "set": nowhere})
    assert admin.agent.trials.skills("{}")["skills"] is not None
    with pytest.raises(NotFoundError):
        admin.agent.trials.mcp("{}", "none")
    with pytest.raises(NotFoundError):
        admin.agent.version("0" * 64)
    asked: AgentQuestion = {"text": "{}", "messages": [{"role": "user", "content": "Who are you?"}]}
    assert [event["type"] for event in admin.agent.trials.chat(asked)][-1] == "done"
    client.chat("Who are you?").result()
    runs = admin.runs()
    assert admin.run(runs[0]["id"])["id"] == runs[0]["id"]
    with pytest.raises(NotFoundError):
        admin.run("none")
    past = list(admin.events(follow=False))
    assert past
    assert next(admin.events(after=past[-2]["id"]))["id"] == past[-1]["id"]
    with pytest.raises(NotFoundError):
        client.artifacts.download("art_none")


def test_what_the_server_refuses_is_told_by_kind(server: RunningServer, client: AgentServer) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        client.query({"query": "x", "topK": 101})
    assert refused.value.param == "topK"
    assert str(refused.value) == f"topK: must be at most 100 (request {refused.value.request_id})"
    client.documents.create({"text": "One."}, idempotency_key="python-key")
    with pytest.raises(ConflictError):
        client.documents.create({"text": "Two."}, idempotency_key="python-key")
    with pytest.raises(AuthenticationError) as stranger:
        AgentServer(server.url, "wrong-key-of-somebody").agent.get()
    assert "wrong-key" not in f"{stranger.value!r}{stranger.value.__dict__}"
    with pytest.raises(ValueError, match="name or password"):
        AgentServer("http://a:b@example.org", KEY)


@pytest.mark.parametrize("id", ["", ".", ".."])
def test_an_id_that_would_call_something_else_is_refused(client: AgentServer, id: str) -> None:
    for call in (client.documents.get, client.documents.delete, client.conversations.delete):
        with pytest.raises(ValueError, match="An id must not be empty"):
            call(id)


@pytest.mark.parametrize("source", [None, 7, {}])
def test_what_is_no_file_is_not_uploaded(client: AgentServer, source: Any) -> None:
    with pytest.raises(TypeError, match="A file is uploaded from"):
        client.documents.upload(source)


def test_a_lost_answer_makes_nothing_twice(proxy: Proxy) -> None:
    client = AgentServer(proxy.url, KEY)
    before = len(list(client.documents.list()))
    proxy.requests.clear()
    proxy.faults = ["lose", 503]
    client.documents.create({"text": "Rooks gather."})
    assert len({key for _, _, key in proxy.requests}) == 1 and len(proxy.requests) == 3
    proxy.faults = ["lose"]
    client.documents.upload(b"Jays hide acorns.", name="jays.txt")
    proxy.faults = ["lose"]
    client.documents.batch([{"text": "Terns dive."}])
    proxy.faults = ["lose"]
    client.documents.upload_batch([{"file": b"Wrens sing.", "name": "wrens.txt"}])
    assert len(list(client.documents.list())) == before + 4
    proxy.faults = ["lose"]
    client.documents.delete(next(iter(client.documents.list()))["id"])
    proxy.faults = [400]
    proxy.requests.clear()
    with pytest.raises(AgentServerError):
        client.agent.get()
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("status", [502, None], ids=["at once", "in a stream"])
def test_a_model_with_too_many_requests_is_told_so(status: int | None) -> None:
    detail = {"type": "upstream_error", "code": "upstream_rate_limited", "message": "Too many requests"}
    assert isinstance(to_error(detail, status=status), RateLimitError)


def test_what_a_wrong_key_of_the_model_failed_is_not_repeated() -> None:
    refused = AgentServerError("No.", status=502, code="upstream_unauthorized")
    failed = AgentServerError("No.", status=502, code="upstream_failed")
    assert protocol.pause_before_retry(refused, 0) is None
    assert protocol.pause_before_retry(AgentServerError("No.", status=507, code="storage_full"), 0) is None
    assert protocol.pause_before_retry(failed, 0) is not None


def test_a_server_that_is_not_there_or_silent_is_told_so() -> None:
    with pytest.raises(ConnectionError) as nobody:
        AgentServer("http://127.0.0.1:9", KEY, max_retries=0).agent.get()
    assert KEY not in str(nobody.value)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TimeoutError):
            AgentServer(url, KEY, timeout=0.2, max_retries=0).agent.get()


def test_a_server_that_is_restarted_is_waited_for() -> None:
    with tempfile.TemporaryDirectory() as directory:
        first = start_server(directory)
        client = AgentServer(first.url, KEY, max_retries=30)
        client.documents.replace("owls", {"text": "Owls hunt."}, wait=20)
        first.process.kill()
        first.process.wait()
        second = start_server(directory, first.url.rsplit(":", 1)[1])
        try:
            assert client.documents.get("owls")["id"] == "owls"
        finally:
            second.process.terminate()
            second.process.wait()
