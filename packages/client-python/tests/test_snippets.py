"""The Python of docs/guides/clients.md, of docs/reference/dialects.md and of the package's README runs as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from agent_server_client import AgentServer
from conftest import KEY, ROOT, RunningServer

PAGES = [
    ROOT / "docs/guides/clients.md",
    ROOT / "docs/reference/dialects.md",
    ROOT / "packages/client-python/README.md",
]
BLOCKS = [
    pytest.param(block, id=f"{page.name}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```python\n(.*?)\n```$", page.read_text(), re.M | re.S))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_snippet_runs(
    block: str, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_SERVER_URL", server.url)
    monkeypatch.setenv("AGENT_SERVER_KEY", KEY)
    (tmp_path / "handbook.md").write_text("The library opens at nine.")
    AgentServer().documents.replace("hours", {"text": "The library opens at nine."}, wait=20)
    code = block.replace("http://127.0.0.1:3000", server.url).replace("\"…\"", repr(KEY))
    exec(compile(code, "snippet", "exec"), {"key": KEY})  # noqa: S102 - that is what it is for


def test_no_page_has_lost_its_snippets() -> None:
    assert len(BLOCKS) == 5
