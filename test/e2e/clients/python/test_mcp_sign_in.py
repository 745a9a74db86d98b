"""The clients of ``mcp`` and ``fastmcp`` sign in to ``/mcp``; only the person at the browser is a stand-in."""

from __future__ import annotations

import html
import json
import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import httpx2
import pytest
from conftest import HOURS, KEY, Model, run_server
from fastmcp import Client
from fastmcp.client.auth import OAuth
from mcp.client import Client as McpClient
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

pytestmark = pytest.mark.anyio

CALLBACK = "http://127.0.0.1:4567/callback"


async def click(url: str) -> str:
    """Enters the key on the page and allows what it asks; answers where the browser is sent."""
    async with httpx.AsyncClient() as browser:
        page = await browser.get(url)
        assert page.status_code == 200, page.text
        hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text)
        form = {name: html.unescape(value) for name, value in hidden}
        form |= {"key": KEY, "decision": "allow"}
        sent = await browser.post(url.split("?")[0], data=form)
        assert sent.status_code == 303, sent.text
        return sent.headers["location"]


class Memory:
    """What a client keeps."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


@pytest.fixture
def url(base_url: str) -> str:
    return base_url.removesuffix("/openai/v1")


async def test_the_client_of_mcp_signs_in_and_refreshes(url: str) -> None:
    back: dict[str, str] = {}

    async def browse(address: str) -> None:
        back.update(parse_qsl(urlsplit(await click(address)).query))

    async def answer() -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(back)

    memory = Memory()
    metadata = OAuthClientMetadata.model_validate(
        {"client_name": "Test", "redirect_uris": [CALLBACK]}
    )
    sign_in = OAuthClientProvider(f"{url}/mcp", metadata, memory, browse, answer)
    async with httpx2.AsyncClient(auth=sign_in) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with McpClient(transport) as client:
            found = await client.call_tool("query", {"query": "Saturdays"})
            assert HOURS in str(found)

    first = memory.tokens
    sign_in.context.token_expiry_time = 1
    back.clear()
    async with httpx2.AsyncClient(auth=sign_in) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with McpClient(transport) as client:
            assert (await client.list_tools()).tools
    assert memory.tokens.access_token != first.access_token
    assert not back, "It asked the person once more"


@pytest.fixture
def described(model: Model, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The URL of a server that trusts this machine's HTTPS, and the URL of a document about the client."""
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "certificate.pem")]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(made, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    (tmp_path / "public").mkdir()
    serve = partial(SimpleHTTPRequestHandler, directory=tmp_path / "public")
    host = ThreadingHTTPServer(("127.0.0.1", 0), serve)
    host.socket = context.wrap_socket(host.socket, server_side=True)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    document = f"https://localhost:{host.server_port}/client.json"
    about = {"client_id": document, "client_name": "Test", "redirect_uris": [CALLBACK]}
    (tmp_path / "public/client.json").write_text(json.dumps(about))
    trusted = {"OUTBOUND_ALLOW": "localhost", "NODE_EXTRA_CA_CERTS": str(tmp_path / "certificate.pem")}
    with run_server(model, trusted) as base_url:
        yield base_url.removesuffix("/openai/v1"), document
    host.shutdown()
    host.server_close()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
async def test_the_client_of_mcp_signs_in_with_a_document_about_itself(described: tuple[str, str]) -> None:
    url, document = described
    back: dict[str, str] = {}

    async def browse(address: str) -> None:
        assert dict(parse_qsl(urlsplit(address).query))["client_id"] == document
        back.update(parse_qsl(urlsplit(await click(address)).query))

    async def answer() -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(back)

    metadata = OAuthClientMetadata.model_validate({"redirect_uris": [CALLBACK]})
    memory = Memory()
    sign_in = OAuthClientProvider(f"{url}/mcp", metadata, memory, browse, answer, document)
    async with httpx2.AsyncClient(auth=sign_in) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with McpClient(transport) as client:
            assert HOURS in str(await client.call_tool("query", {"query": "Saturdays"}))


class ScriptedBrowser(OAuth):
    """Where a browser would open, the scripted person clicks; the redirect goes to the client itself."""

    async def redirect_handler(self, authorization_url: str) -> None:
        self.location = await click(authorization_url)

    async def callback_handler(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(
            dict(parse_qsl(urlsplit(self.location).query))
        )


async def test_the_client_of_fastmcp_signs_in(url: str) -> None:
    async with Client(f"{url}/mcp", auth=ScriptedBrowser()) as client:
        assert HOURS in str(await client.call_tool("query", {"query": "Saturdays"}))
