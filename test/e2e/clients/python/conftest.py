"""A real server and a scripted model behind it, for the Python packages of others."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI

# What needs other versions has an environment of its own.
collect_ignore = ["aider", "claude_agent", "older_openai", "phoenix"]

ROOT = Path(__file__).parents[4]
NODE = ROOT / "node_modules/node/bin/node"
KEY = "a-key-for-tests-only"
QUESTION = "When does the library open on Saturdays?"
HOURS = "The library opens at nine on weekdays. On Saturdays it opens at ten."
OWLS = "Owls hunt at night."
ANSWER = "At ten [1]."
LIT = "The lamp is on."
DIMENSION = 512


@dataclass
class Model:
    """Calls what ends in ``lamp`` where a client brings it, says LIT once it has the result, and else ANSWER."""

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    embedded: list[list[str]] = field(default_factory=list)

    def roles(self) -> list[str]:
        """Of the messages that came last, but for the server's own example of a question and an answer."""
        roles = [message["role"] for message in self.requests[-1]["messages"]]
        assert roles[:3] == ["system", "user", "assistant"]
        return [roles[0], *roles[3:]]


def deltas_of(request: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """What the model says, and why it ends."""
    role = request["messages"][-1]["role"]
    if role == "tool":
        return [{"content": LIT}], "stop"
    offered = [tool["function"]["name"] for tool in request.get("tools", [])]
    lamp = next((name for name in offered if name.endswith("lamp")), None)
    if lamp is None:
        text = '{"hour": 10}' if "response_format" in request else ANSWER
        return [{"content": text[:4]}, {"content": text[4:]}], "stop"
    head = {"index": 0, "id": "call_lamp", "type": "function"}
    first = {**head, "function": {"name": lamp, "arguments": ""}}
    rest = [{"index": 0, "function": {"arguments": part}} for part in ('{"on"', ": true}")]
    return [{"tool_calls": [each]} for each in [first, *rest]], "tool_calls"


def chunks_of(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    head = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "scripted",
    }
    deltas, reason = deltas_of(request)
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


def vector_of(text: str) -> list[float]:
    vector = [0.01] * DIMENSION
    for word in re.findall(r"\w+", text.lower()):
        vector[zlib.crc32(word.encode()) % DIMENSION] += 1
    return vector


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    state = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.say("application/json", '{"object": "list", "data": [{"id": "scripted"}]}')

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path.endswith("/embeddings"):
                texts = request["input"]
                state.embedded.append(texts)
                data = [{"index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]
                self.say("application/json", json.dumps({"object": "list", "data": data}))
                return
            state.requests.append(request)
            lines = [*map(json.dumps, chunks_of(request)), "[DONE]"]
            self.say("text/event-stream", "".join(f"data: {line}\n\n" for line in lines))

        def say(self, media_type: str, text: str) -> None:
            self.send_response(200)
            self.send_header("content-type", media_type)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{listening.server_port}/v1"
    yield state
    listening.shutdown()
    listening.server_close()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What runs the tests that are marked with ``anyio``."""
    return "asyncio"


@pytest.fixture
async def connected(base_url: str) -> AsyncIterator[AsyncOpenAI]:
    """What frameworks send by: of one test, as the event loop is."""
    async with AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0) as client:
        yield client


@pytest.fixture(scope="session")
def base_url(model: Model) -> Iterator[str]:
    with run_server(model, {}) as url:
        yield url


@contextmanager
def run_server(model: Model, more: dict[str, str]) -> Iterator[str]:
    """A server whose chat model and embedder are ``model``; it knows when the library opens."""
    settings = {"SERVER_API_KEY": KEY, "PORT": "0", "UI": "off", "SHUTDOWN_GRACE": "1", **more}
    for kind in ("CHAT", "EMBEDDING"):
        settings |= {f"{kind}_BASE_URL": model.url, f"{kind}_API_KEY": "k", f"{kind}_MODEL": "any"}
    with tempfile.TemporaryDirectory() as directory:
        process = subprocess.Popen(
            [NODE, ROOT / "src/main.ts"],
            cwd=directory,
            env={**os.environ, **settings, "LOG_LEVEL": "info"},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            url = f"{address_of(process)}/openai/v1"
            upload(url, {"vs_hours": ("hours.txt", HOURS), "vs_birds": ("owls.txt", OWLS)})
            yield url
        finally:
            process.terminate()
            process.wait()


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    for line in process.stdout:
        found = re.search(r"listening at (http://[^\s\",]+)", line)
        if found:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return found[1]
    raise AssertionError("The server did not start")


def upload(url: str, files: dict[str, tuple[str, str]]) -> None:
    stores = OpenAI(base_url=url, api_key=KEY).vector_stores
    for store, (name, text) in files.items():
        stores.files.upload_and_poll(
            vector_store_id=store, file=(name, text.encode()), poll_interval_ms=50
        )
