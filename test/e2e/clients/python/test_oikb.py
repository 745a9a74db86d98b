"""oikb, with a folder and with a git repository: the connectors that need no account elsewhere."""

from __future__ import annotations

import hmac
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx
import pytest
from conftest import KEY

OIKB = Path(sys.executable).parent / "oikb"
REPOSITORY = "/api/v1/repos/birds/notes"


@pytest.fixture(scope="module")
def server(base_url: str) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=base_url.removesuffix("/openai/v1"), headers=headers) as client:
        yield client


@pytest.fixture
def environment(server: httpx.Client, tmp_path: Path) -> dict[str, str]:
    own = {
        "OPEN_WEBUI_URL": str(server.base_url),
        "OPEN_WEBUI_API_KEY": KEY,
        "OIKB_CONFIG_DIR": str(tmp_path / "config"),
        "HOME": str(tmp_path),
    }
    return {**os.environ, **own}


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs a command of oikb; answers its exit code and all that it printed."""

    def command(*arguments: object, **more: str) -> tuple[int, str]:
        done = subprocess.run(
            [OIKB, *map(str, arguments)],
            cwd=tmp_path,
            env={**environment, **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        return done.returncode, done.stdout

    return command


def found(server: httpx.Client, query: str, collection: str) -> list[str]:
    asked = {"query": query, "collection": collection}
    hits = server.post("/query", json=asked).raise_for_status().json()["hits"]
    return [hit["text"] for hit in hits]


def settle(server: httpx.Client, collection: str) -> dict[str, str]:
    """Waits until no document is being ingested; answers their states by path."""
    for _ in range(200):
        listed = server.get("/documents", params={"collection": collection, "limit": 100})
        documents = listed.raise_for_status().json()["documents"]
        states = {each["metadata"]["synced_path"]: each["status"] for each in documents}
        if not {"pending", "processing"} & set(states.values()):
            return states
        time.sleep(0.05)
    raise AssertionError("Ingestion takes too long")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_folder_is_kept_equal(server: httpx.Client, run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "source"
    write(folder, {"herons.md": "Herons wade.", "far/Größe 100%.txt": "Egrets wade."})
    sync = ("sync", folder, "--kb-id", "folder")
    code, printed = run(*sync)
    assert (code, "Sync complete: 2 added, 1 dirs created" in printed) == (0, True), printed
    assert settle(server, "folder") == {"herons.md": "ready", "far/Größe 100%.txt": "ready"}
    assert "2 unchanged" in run(*sync, "--concurrency", "4")[1]

    write(folder, {"herons.md": "Herons fly slowly."})
    (folder / "far/Größe 100%.txt").unlink()
    (folder / "far").rmdir()
    _, preview = run("diff", folder, "--kb-id", "folder")
    assert "1 modified, 1 deleted, 1 dirs removed" in preview
    assert found(server, "herons", "folder")[0] == "Herons wade."
    assert "1 modified, 1 deleted, 1 dirs removed" in run(*sync)[1]
    settle(server, "folder")
    assert found(server, "herons egrets", "folder") == ["Herons fly slowly."]

    assert "herons.md  (18 B)" in run("ls", "--kb-id", "folder")[1]
    assert "Files:       1" in run("status", "--kb-id", "folder")[1]
    assert run("reset", "--yes", "--kb-id", "folder")[0] == 0
    assert "(empty)" in run("ls", "--kb-id", "folder")[1]


def git(folder: Path, *arguments: str) -> bytes:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, stdout=subprocess.PIPE
    ).stdout


def commit(folder: Path, files: dict[str, str]) -> None:
    write(folder, files)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Notes")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder, {"plovers.md": "Plovers run.", "docs/terns.md": "Terns dive."})
    return folder


@pytest.fixture
def gitea(repository: Path) -> Iterator[str]:
    """A stand-in for Gitea's API; what it answers is read from a real repository."""

    def answer(path: str) -> bytes:
        if path == "":
            return json.dumps({"empty": False, "default_branch": "main"}).encode()
        if path == "/branches/main":
            head = git(repository, "rev-parse", "main").decode().strip()
            return json.dumps({"commit": {"id": head}}).encode()
        if path.startswith("/raw/"):
            return git(repository, "show", f"main:{path.removeprefix('/raw/')}")
        name = path.removeprefix("/git/trees/")
        lines = git(repository, "ls-tree", "-r", "-t", "-l", "-z", name).decode()
        tree = [entry(line) for line in lines.split("\0") if line]
        page = {"sha": name, "page": 1, "truncated": False, "total_count": len(tree)}
        return json.dumps({**page, "tree": tree}).encode()

    def entry(line: str) -> dict[str, object]:
        facts, path = line.split("\t")
        mode, kind, sha, size = facts.split()
        of = {"path": path, "mode": mode, "type": kind, "sha": sha}
        return {**of, "size": int(size) if kind == "blob" else 0}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answer(unquote(urlsplit(self.path).path).removeprefix(REPOSITORY))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}"
    listening.shutdown()
    listening.server_close()


def test_a_git_repository_is_kept_equal(
    server: httpx.Client, run: Run, repository: Path, gitea: str
) -> None:
    sync = ("sync", "gitea:birds/notes", "--kb-id", "git")
    code, printed = run(*sync, GITEA_URL=gitea)
    assert (code, "2 added" in printed) == (0, True), printed
    assert settle(server, "git") == {"plovers.md": "ready", "docs/terns.md": "ready"}
    git(repository, "rm", "--quiet", "docs/terns.md")
    commit(repository, {"plovers.md": "Plovers rest."})
    assert "1 modified, 1 deleted" in run(*sync, GITEA_URL=gitea)[1]
    settle(server, "git")
    assert found(server, "plovers terns", "git") == ["Plovers rest."]


def test_several_sources_share_a_collection(
    server: httpx.Client, run: Run, gitea: str, tmp_path: Path
) -> None:
    write(tmp_path / "source", {"plovers.md": "Herons wade."})
    config = f"""
sources:
  - {{name: folder, source: ./source, kb-id: both}}
  - {{name: notes, source: "gitea:birds/notes", kb-id: both, target-path: notes,
      auth: {{base_url: "{gitea}"}}}}
"""
    (tmp_path / ".oikb.yaml").write_text(config)
    code, printed = run("validate", "--deep")
    assert (code, "2 entry(s) valid" in printed) == (0, True), printed
    assert "3 added" in run("sync")[1]
    states = settle(server, "both")
    assert set(states) == {"plovers.md", "notes/plovers.md", "notes/docs/terns.md"}
    assert "3 unchanged" in run("sync")[1]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def await_found(server: httpx.Client, query: str, collection: str, expected: str) -> None:
    for _ in range(300):
        if found(server, query, collection)[:1] == [expected]:
            return
        time.sleep(0.1)
    raise AssertionError(f"{expected} is not found")


def test_a_daemon_follows_a_schedule_and_a_webhook(
    server: httpx.Client,
    environment: dict[str, str],
    repository: Path,
    gitea: str,
    tmp_path: Path,
) -> None:
    write(tmp_path / "source", {"herons.md": "Herons wade."})
    config = f"""
sources:
  - {{name: folder, source: ./source, kb-id: scheduled, interval: 1s}}
  - {{name: notes, source: "gitea:birds/notes", kb-id: hooked, interval: 1h, webhook: true,
      gitea_secret: "a secret", auth: {{base_url: "{gitea}"}}}}
"""
    (tmp_path / ".oikb.yaml").write_text(config)
    port = free_port()
    daemon = subprocess.Popen([OIKB, "daemon", "--port", str(port)], cwd=tmp_path, env=environment)
    try:
        await_found(server, "herons", "scheduled", "Herons wade.")
        write(tmp_path / "source", {"herons.md": "Herons fly slowly."})
        await_found(server, "herons", "scheduled", "Herons fly slowly.")

        await_found(server, "plovers", "hooked", "Plovers run.")
        commit(repository, {"plovers.md": "Plovers rest."})
        push = json.dumps(
            {
                "ref": "refs/heads/main",
                "after": "1" * 40,
                "repository": {
                    "full_name": "birds/notes",
                    "html_url": f"{gitea}/birds/notes",
                    "default_branch": "main",
                },
            }
        )
        signature = hmac.new(b"a secret", push.encode(), "sha256").hexdigest()
        headers = {"x-gitea-event": "push", "x-gitea-signature": signature}
        hook = f"http://127.0.0.1:{port}/webhooks/gitea"
        told = httpx.post(hook, content=push, headers=headers).raise_for_status()
        assert told.json() == {"status": "accepted", "scheduled": 1}
        await_found(server, "plovers", "hooked", "Plovers rest.")
    finally:
        daemon.terminate()
        daemon.wait(timeout=20)


def test_it_shows_what_is_wrong(server: httpx.Client, run: Run, tmp_path: Path) -> None:
    write(tmp_path / "source", {"a.md": "A."})
    sync = ("sync", tmp_path / "source", "--kb-id")
    code, printed = run(*sync, "wrong", OPEN_WEBUI_API_KEY="wrong")
    assert (code, "401 The key is invalid" in printed) == (1, True), printed
    assert "400 id: must start with a letter or digit" in run(*sync, "a b")[1]
    asked = {"name": "Connector", "scopes": ["ingest"], "collections": ["own"]}
    secret = server.post("/admin/keys", json=asked).raise_for_status().json()["secret"]
    refused = run(*sync, "other", OPEN_WEBUI_API_KEY=secret)[1]
    assert "403 collection: this key can write only to own" in refused
    assert "1 added" in run(*sync, "own", OPEN_WEBUI_API_KEY=secret)[1]
    # Of an upload, it shows the whole message.
    write(tmp_path / "source", {"b/" * 250 + "b.md": "B."})
    code, printed = run(*sync, "own")
    assert (code, "must have a path of at most 500 characters" in printed) == (1, True), printed
