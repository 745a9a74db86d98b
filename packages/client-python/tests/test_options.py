"""How a call is made: keyword arguments, other options for one call, and what is shown where something is amiss."""

from __future__ import annotations

import builtins
import pickle
import socket
import warnings
from typing import Any, get_args

import pytest
from agent_server_client import (
    AgentServer,
    AgentServerError,
    AgentServerWarning,
    AuthenticationError,
    ConflictError,
    ConnectionError,
    NotFoundError,
    TimeoutError,
    __version__,
)
from agent_server_client.contract import ErrorCode
from conftest import KEY, ROOT, Proxy, RunningServer

ASKED = {"role": "user", "content": "When do owls hunt?"}


@pytest.fixture
def client(server: RunningServer) -> AgentServer:
    client = AgentServer(server.url, KEY)
    client.documents.replace("owls", {"title": "Owls", "text": "Owls hunt at night."}, wait=20)
    client.documents.replace("more", {"title": "More", "text": "Owls hunt mice at night."}, wait=20)
    return client


def test_keyword_arguments_are_sent(client: AgentServer) -> None:
    assert len(client.query("When do owls hunt at night?", top_k=1)["hits"]) == 1
    assert len(client.query({"query": "owls hunt night"}, top_k=1, mode="lexical")["hits"]) == 1
    assert len(client.query(query="owls hunt night", top_k=1)["hits"]) == 1
    nothing = {"field": "kind", "eq": "fish"}
    assert client.query("owls", filter=nothing)["hits"] == []  # type: ignore[arg-type]
    events = [event["type"] for event in client.chat("When do owls hunt?", include_steps=True, top_k=1)]
    assert "retrieved" in events
    assert len(client.chat(messages=[ASKED], top_k=1).result()["hits"]) == 1  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("topK", "did you mean top_k?"),
        ("topk", "did you mean top_k?"),
        ("filters", "did you mean filter?"),
        ("includeSteps", "did you mean include_steps?"),
        ("temperature", "there are messages, top_k"),
    ],
)
def test_an_unknown_keyword_argument_is_refused(client: AgentServer, name: str, hint: str) -> None:
    options: Any = {name: 1}
    with pytest.raises(TypeError) as refused:
        client.chat("When do owls hunt?", **options)
    assert str(refused.value).startswith(f"There is no keyword argument {name}: {hint}")


def file_of(shown: pytest.WarningsRecorder) -> str:
    """The file that the client's warning points to; Python warns of what it collects at any moment."""
    return next(warning.filename for warning in shown if warning.category is AgentServerWarning)


def test_a_field_that_the_server_does_not_know_is_shown_at_the_callers_line(client: AgentServer) -> None:
    misspelt: Any = {"query": "owls", "top_k": 1}
    with pytest.warns(AgentServerWarning, match="^POST /query: unknown fields: top_k$") as shown:
        client.query(misspelt)
    assert file_of(shown) == __file__
    question: Any = {"messages": [ASKED], "include_steps": True}
    with pytest.warns(AgentServerWarning, match="^POST /chat: unknown fields: include_steps$") as shown:
        client.chat(question).result()
    assert file_of(shown) == __file__
    made: Any = {"text": "Rails hide.", "titel": "Rails"}
    with pytest.warns(AgentServerWarning, match="unknown fields: titel"):
        client.documents.create(made)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AgentServerWarning)
        client.query("owls", top_k=1)


def test_one_call_may_have_other_options(proxy: Proxy) -> None:
    client = AgentServer(proxy.url, KEY, default_headers={"x-all": "1"})
    once = client.with_options(max_retries=0, headers={"x-one": "2"})
    proxy.faults = [503]
    with pytest.raises(AgentServerError):
        once.agent.get()
    assert (proxy.headers[0]["x-all"], proxy.headers[0]["x-one"]) == ("1", "2")
    proxy.faults = [503]
    assert client.agent.get()["name"] == "agent"
    assert len(proxy.requests) == 3 and "x-one" not in proxy.headers[-1]
    assert once.with_options(headers={"x-two": "3"}).documents.list(limit=1).page() is not None
    assert (proxy.headers[-1]["x-one"], proxy.headers[-1]["x-two"]) == ("2", "3")


def test_a_timeout_of_one_call_goes_before_that_of_long_trials() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        client = AgentServer(url, KEY, max_retries=0).with_options(timeout=0.2)
        for call in (client.agent.sandbox.verify, client.agent.get, client.chat("Hello").result):
            with pytest.raises(TimeoutError, match="for 0.2 s"):
                call()


def test_its_errors_of_the_network_are_those_of_python_too() -> None:
    with pytest.raises(builtins.ConnectionError) as nobody:
        AgentServer("http://127.0.0.1:9", KEY, max_retries=0).agent.get()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(builtins.TimeoutError) as late:
            AgentServer(url, KEY, timeout=0.1, max_retries=0).agent.get()
    for kind, error in ((ConnectionError, nobody.value), (TimeoutError, late.value)):
        assert isinstance(error, kind) and isinstance(error, AgentServerError)
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind and str(copy) == str(error) and copy.status is None
    told = ConnectionError("No.", request_id="r", code="internal")
    assert (str(told), told.code, told.errno) == ("No. (request r)", "internal", None)


def test_it_says_its_version(proxy: Proxy) -> None:
    AgentServer(proxy.url, KEY).admin.health()
    assert proxy.headers[0]["user-agent"] == f"agent-server-client-python/{__version__}"
    assert f'"version": "{__version__}"' in (ROOT / "package.json").read_text()


def test_codes_of_errors_are_those_of_the_contract(client: AgentServer) -> None:
    with pytest.raises(NotFoundError) as missing:
        client.documents.get("none")
    assert missing.value.code in get_args(ErrorCode)
    assert AgentServerError("No.", code="one_of_tomorrow").code == "one_of_tomorrow"


def test_what_has_no_text_yet_is_a_conflict(client: AgentServer) -> None:
    waiting = client.documents.upload(b"%PDF-1.7 no", name="damaged.pdf", id="damaged")
    for _ in range(2):
        with pytest.raises(ConflictError) as early:
            client.documents.text(waiting["id"])
        assert (early.value.status, early.value.code) == (409, "document_not_ready")


def test_people_who_run_the_server_see_its_use(client: AgentServer, server: RunningServer) -> None:
    keys = client.admin.keys
    made = keys.create({"name": "reader", "scopes": ["query"]})
    assert made["id"] in {each["id"] for each in keys.list()}
    used = AgentServer(server.url, made["secret"]).usage()
    assert used["limits"] == [] and "calls" in used["today"]
    assert "rows" in client.admin.usage(by="day,key", limit=5)
    keys.revoke(made["id"])
    with pytest.raises(AuthenticationError):
        AgentServer(server.url, made["secret"]).usage()
    assert list(client.admin.audit(action="none")) == [] == list(client.conversations.list(shared=True))
    assert client.agent.accounts.list() == {"accounts": []}
    with pytest.raises(NotFoundError):
        client.agent.accounts.connect("none")


def test_collections_are_made_changed_and_deleted(client: AgentServer) -> None:
    documents = client.documents
    with pytest.raises(NotFoundError):
        documents.patch_collection("nowhere", {"access": ["public"]})
    assert documents.create_collection({"name": "birds"})["name"] == "birds"
    with pytest.raises(ConflictError):
        documents.create_collection({"name": "birds"})
    assert "birds" in {each["name"] for each in documents.collections()}
    documents.delete_collection("birds")
    assert "birds" not in {each["name"] for each in documents.collections()}
