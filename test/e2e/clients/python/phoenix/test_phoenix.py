"""Traces reach Arize Phoenix, which shows sessions, tokens and, where the operator wants it, what was said."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import ANSWER, KEY, QUESTION, Model, run_server

SECONDS = 120


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    settings = {
        "PHOENIX_WORKING_DIR": str(tmp_path_factory.mktemp("phoenix")),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
    }
    program = Path(sys.executable).with_name("phoenix")
    silent = subprocess.DEVNULL
    process = subprocess.Popen([program, "serve"], env={**os.environ, **settings}, stdout=silent, stderr=silent)
    url = f"http://127.0.0.1:{port}"
    until(lambda: httpx.get(f"{url}/healthz").is_success)
    yield url
    process.terminate()
    process.wait()


def until(is_so: Any) -> Any:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            if found := is_so():
                return found
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise AssertionError("It did not come in time")


@pytest.mark.parametrize("wanted", ["true", "false"], ids=["with what is said", "without"])
def test_an_answer_is_a_span_of_the_agent_in_a_session(phoenix: str, model: Model, wanted: str) -> None:
    settings = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": phoenix,
        "OTEL_METRICS_EXPORTER": "none",
        "OTEL_LOGS_EXPORTER": "none",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": wanted,
    }
    session = f"desk-{wanted}"
    with run_server(model, settings) as url:
        asked = {"messages": [{"role": "user", "content": QUESTION}], "conversationId": session}
        headers = {"authorization": f"Bearer {KEY}"}
        chat = f"{url.removesuffix('/openai/v1')}/chat"
        assert '"type":"done"' in httpx.post(chat, json=asked, headers=headers, timeout=SECONDS).text

    def spans() -> list[dict[str, Any]]:
        listed = httpx.get(f"{phoenix}/v1/projects/default/spans", params={"limit": 1000}).json()["data"]
        agent = [span for span in listed if span["attributes"].get("session.id") == session]
        traces = {span["context"]["trace_id"] for span in agent}
        return [span for span in listed if span["context"]["trace_id"] in traces]

    def named(name: str) -> dict[str, Any]:
        return until(lambda: [span["attributes"] for span in spans() if span["name"] == name])[0]

    agent = named("invoke_agent agent")
    assert agent["gen_ai.agent.name"] == "agent"
    assert named("chat any")["llm.token_count.total"] == 18
    said = (agent.get("llm.input_messages.0.message.content"), agent.get("llm.output_messages.0.message.content"))
    assert said == ((QUESTION, ANSWER) if wanted == "true" else (None, None))
    assert (QUESTION in str(spans())) == (wanted == "true")
