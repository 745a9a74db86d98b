"""A real server for each run of the tests, and a proxy before it that fails when it is told to."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[3]
NODE = ROOT / "node_modules/node/bin/node"
KEY = "a-key-for-tests-only"


@dataclass
class RunningServer:
    url: str
    process: subprocess.Popen[str]


def start_server(directory: str, port: str = "0") -> RunningServer:
    environment = {**os.environ, "SERVER_API_KEY": KEY, "CHAT_MODEL": "extractive", "PORT": port}
    environment |= {"EMBEDDING_MODEL": "none", "OUTBOUND_ALLOW": "127.0.0.1"}
    process = subprocess.Popen(
        [NODE, ROOT / "src/main.ts"],
        cwd=directory,
        env={**environment, "LOG_LEVEL": "info", "UI": "off", "SHUTDOWN_GRACE": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    for line in process.stdout:
        found = re.search(r"listening at (http://[^\s\",]+)", line)
        if found:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return RunningServer(found[1], process)
    raise AssertionError("The server did not start")


@pytest.fixture(scope="session")
def server() -> Iterator[RunningServer]:
    with tempfile.TemporaryDirectory() as directory:
        running = start_server(directory)
        yield running
        running.process.terminate()
        running.process.wait()


@dataclass
class Proxy:
    """Takes one of ``faults`` for each request: a status, ``lose`` (an answer) or ``cut`` (half an answer)."""

    url: str = ""
    faults: list[int | str] = field(default_factory=list)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture
def proxy(server: RunningServer) -> Iterator[Proxy]:
    state = Proxy()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            state.requests.append((self.command, self.path, self.headers.get("idempotency-key")))
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            fault = state.faults.pop(0) if state.faults else None
            if isinstance(fault, int):
                self.send_response(fault)
                self.send_header("retry-after", "0")
                self.send_header("content-length", "0")
                self.end_headers()
                return
            kept = {k: v for k, v in self.headers.items() if k.lower() != "host"}
            answer = httpx.request(
                self.command, server.url + self.path, headers=kept, content=body, timeout=60
            )
            self.close_connection = True
            if fault == "lose":
                return
            content = answer.content[: len(answer.content) // 2] if fault == "cut" else answer.content
            self.send_response(answer.status_code)
            for name in ("content-type", "x-request-id", "warnings"):
                self.send_header(name, answer.headers.get(name, ""))
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = answer

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{listening.server_port}"
    yield state
    listening.shutdown()
    listening.server_close()
