"""The asynchronous client; the synchronous one is made of it by make_synchronous.py."""

from __future__ import annotations

import json
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from copy import copy
from time import monotonic
from typing import Any, ParamSpec, TypeVar, cast
from urllib.parse import quote

import httpx
from typing_extensions import Self, Unpack

from . import protocol
from .asynchronous_admin import AsyncAdmin
from .asynchronous_conversations import AsyncConversations, AsyncFeedback
from .asynchronous_evaluation import AsyncEvaluation
from .asynchronous_transport import AsyncChatStream, AsyncPages, Transport
from .contract import (
    Agent as AgentRecord,
    Artifact,
    Capabilities,
    ChatOptions,
    ChatRequest,
    Chunk,
    Collection,
    CollectionPatch,
    CreateCollection,
    CreateDocument,
    CreateDocumentItem,
    CreateSite,
    Deletion,
    Document,
    DocumentCreated,
    DocumentPatch,
    DocumentSort,
    DocumentStatus,
    Filter,
    McpTestRequest,
    McpTestResult,
    McpAccountList,
    McpAccountStart,
    Metadata,
    OwnUsage,
    QueryOptions,
    QueryRequest,
    SandboxReport,
    SiteLine,
    SkillList,
    SkillReload,
    ToolList,
)
from .errors import IngestionError, TimeoutError, to_error
from .protocol import TRIAL, Progress, Request, SmallFile, Source
from .results import Outcome, QueryResult

Item = TypeVar("Item")
Parameters = ParamSpec("Parameters")

_FIRST_POLL = 0.1
_MAX_POLL = 2.0


class AsyncAgentServer:
    """An Agent Server: its documents, its retrieval, its agent.

    ``base_url`` and ``api_key`` come from AGENT_SERVER_URL and AGENT_SERVER_KEY where they are not given;
    ``timeout`` is in seconds of the server's silence. To be closed, or used in a ``with`` block.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = protocol.TIMEOUT,
        max_retries: int = protocol.MAX_RETRIES,
        default_headers: Mapping[str, str] | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        settings = protocol.read_settings(base_url, api_key, timeout, max_retries, default_headers)
        self.base_url = settings.base_url
        self._use(Transport(settings, http_client))

    def _use(self, transport: Transport) -> None:
        self._transport = transport
        self.documents = AsyncDocuments(transport)
        self.conversations = AsyncConversations(transport)
        self.feedback = AsyncFeedback(transport)
        self.evaluation = AsyncEvaluation(transport)
        self.agent = AsyncAgent(transport)
        self.artifacts = AsyncArtifacts(transport)
        self.admin = AsyncAdmin(transport)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.base_url}>"

    def with_options(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """This client with other options: ``client.with_options(timeout=5).query("…")``. Both share connections."""
        other = copy(self)
        settings = self._transport.settings.changed(timeout, max_retries, headers)
        other._use(Transport(settings, self._transport.http))
        return other

    async def query(
        self, request: str | QueryRequest | None = None, **options: Unpack[QueryOptions]
    ) -> QueryResult:
        """The passages that answer a question, best first: ``query("When?", top_k=3)``, or a dict with what is sent."""
        asked = Request("POST", "/query", json=protocol.query_of(request, options))
        return QueryResult(await self._transport.json(asked))

    async def usage(self) -> OwnUsage:
        """What whoever asks has used of models in the last 30 days, and what is left for today."""
        return cast(OwnUsage, await self._transport.json(Request("GET", "/usage")))

    def chat(
        self, request: str | ChatRequest | None = None, **options: Unpack[ChatOptions]
    ) -> AsyncChatStream:
        """An answer as it is generated: iterate over its events, or ask for its ``text`` or ``result``."""
        json = protocol.chat_of(request, options)
        asked = Request("POST", "/chat", json=json, accept="text/event-stream")
        return AsyncChatStream(self._transport, asked)

    async def with_response(
        self,
        call: Callable[Parameters, Awaitable[Item]],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Outcome[Item]:
        """Calls a method with the rest, and also tells status, headers and request id of the last response to it."""
        with protocol.watch() as last:
            data = await call(*args, **kwargs)
        return protocol.outcome_of(data, last)

    async def aclose(self) -> None:
        await self._transport.http.aclose()

    async def __aenter__(self) -> AsyncAgentServer:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncDocuments:
    """The documents of the server."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(
        self, document: CreateDocument, *, wait: float | None = None, idempotency_key: str | None = None
    ) -> DocumentCreated:
        """Adds a text. ``wait`` are seconds, at most 60, to hold the answer back until it is ready."""
        query = {"wait": wait}
        request = Request("POST", "/documents", query, document, idempotency_key=idempotency_key)
        return cast(DocumentCreated, await self._transport.json(request))

    async def upload(
        self,
        source: Source,
        *,
        id: str | None = None,
        name: str | None = None,
        type: str | None = None,
        title: str | None = None,
        url: str | None = None,
        metadata: Metadata | None = None,
        collection: str | None = None,
        access: Sequence[str] | None = None,
        conversation: str | None = None,
        wait: float | None = None,
        idempotency_key: str | None = None,
        on_progress: Progress | None = None,
    ) -> DocumentCreated:
        """Adds a file, or replaces the document ``id``: a path, bytes, or a file opened for reading bytes.

        ``on_progress`` is called with the bytes sent, and the size or None; it starts at 0 again on a retry.
        """
        upload = protocol.upload_of(
            source,
            name=name,
            type=type,
            title=title,
            url=url,
            metadata=metadata,
            collection=collection,
            access=access,
            conversation=conversation,
            on_progress=on_progress,
        )
        method, path = ("POST", "/documents") if id is None else ("PUT", protocol.path_of(id))
        key = idempotency_key if id is None else None
        request = Request(method, path, {"wait": wait}, upload=upload, idempotency_key=key)
        return cast(DocumentCreated, await self._transport.json(request))

    async def batch(self, documents: Sequence[CreateDocumentItem]) -> Sequence[dict[str, Any]]:
        """Adds up to 1,000 texts at once; answers a result for each, in their order."""
        sent = protocol.with_keys(cast(Sequence[Mapping[str, Any]], documents))
        answer = await self._transport.json(Request("POST", "/documents/batch", json=sent))
        return cast("Sequence[dict[str, Any]]", answer["results"])

    async def upload_batch(self, files: Sequence[SmallFile]) -> Sequence[dict[str, Any]]:
        """Adds up to 100 files of at most 1 MB each, 20 MB in all; answers a result for each, in their order.

        A file is a dict: ``{"file": "owls.md", "title": "Owls"}``, with the fields of ``upload`` and ``idempotencyKey``.
        """
        form = protocol.form_of(files)
        answer = await self._transport.json(Request("POST", "/documents/batch", form=form))
        return cast("Sequence[dict[str, Any]]", answer["results"])

    async def replace(
        self, id: str, document: CreateDocument, *, wait: float | None = None
    ) -> DocumentCreated:
        """Replaces the document with an id of the caller's own, or adds it."""
        request = Request("PUT", protocol.path_of(id), {"wait": wait}, document)
        return cast(DocumentCreated, await self._transport.json(request))

    def list(
        self,
        *,
        status: DocumentStatus | None = None,
        title: str | None = None,
        media_type: str | None = None,
        sha256: str | None = None,
        filter: Filter | None = None,
        collection: str | None = None,
        conversation: str | None = None,
        sort: DocumentSort | None = None,
        limit: int = 100,
        total: bool = False,
    ) -> AsyncPages[Document]:
        """Lists documents, newest first, and fetches further pages of ``limit`` documents as you iterate.

        With ``total``, each page also counts the documents of all pages: ``list(total=True).page().total``.
        ``media_type`` and ``sha256`` are those of the document's file: ``application/pdf`` or ``image/*``, and the
        digest in hexadecimal.
        """
        selection = protocol.selection(status, title, media_type, sha256, filter, collection)

        def read(cursor: str | None) -> Awaitable[Any]:
            page = {"limit": limit, "cursor": cursor, "sort": sort}
            counted = "true" if total else None
            query = {**selection, **page, "conversation": conversation, "total": counted}
            return self._transport.json(Request("GET", "/documents", query))

        return AsyncPages("documents", read)

    async def collections(self) -> Sequence[Collection]:
        """The collections that you may see, ``default`` first."""
        answer = await self._transport.json(Request("GET", "/collections"))
        return cast("Sequence[Collection]", answer["collections"])

    async def collection(self, name: str) -> Collection:
        """One of them. Throws NotFoundError."""
        return cast(Collection, await self._transport.json(Request("GET", protocol.path_of_collection(name))))

    async def create_collection(self, collection: CreateCollection) -> Collection:
        """Makes a collection that people share. Throws ConflictError where the name is taken."""
        return cast(Collection, await self._transport.json(Request("POST", "/collections", json=collection)))

    async def patch_collection(self, name: str, patch: CollectionPatch) -> Collection:
        """Changes who may do what in a collection: each list given replaces the present one."""
        request = Request("PATCH", protocol.path_of_collection(name), json=patch)
        return cast(Collection, await self._transport.json(request))

    async def delete_collection(self, name: str) -> None:
        """Deletes a collection without documents. Throws ConflictError where it has some."""
        await self._transport.json(Request("DELETE", protocol.path_of_collection(name)))

    async def get(self, id: str) -> Document:
        return cast(Document, await self._transport.json(Request("GET", protocol.path_of(id))))

    def chunks(self, id: str, *, limit: int = 100) -> AsyncPages[Chunk]:
        """The passages that the document was split into, in the order of the text."""

        def read(cursor: str | None) -> Awaitable[Any]:
            query = {"limit": limit, "cursor": cursor}
            return self._transport.json(Request("GET", protocol.path_of(id, "/chunks"), query))

        return AsyncPages("chunks", read)

    async def file(self, id: str) -> AsyncIterator[bytes]:
        """The bytes of the file that the document was sent as."""
        request = Request("GET", protocol.path_of(id, "/file"), accept="*/*")
        async with self._transport.open(request, stream=True) as response:
            async for piece in response.aiter_bytes():
                yield piece

    async def text(self, id: str, *, start: int | None = None, end: int | None = None) -> str:
        """The text of the document, or the part that ``start`` and ``end`` of a hit name, in UTF-16 code units."""
        query = {"start": start, "end": end}
        request = Request("GET", protocol.path_of(id, "/text"), query, accept="text/plain")
        async with self._transport.open(request, stream=True) as response:
            return (await response.aread()).decode()

    async def patch(self, id: str, patch: DocumentPatch) -> Document:
        """Changes metadata, where None takes a field out, or the title, for which the content is ingested again."""
        request = Request("PATCH", protocol.path_of(id), json=patch)
        return cast(Document, await self._transport.json(request))

    async def delete_all(
        self,
        *,
        status: DocumentStatus | None = None,
        title: str | None = None,
        media_type: str | None = None,
        sha256: str | None = None,
        filter: Filter | None = None,
        collection: str | None = None,
        confirm: int | None = None,
        dry_run: bool = False,
    ) -> Deletion:
        """Deletes all documents that a selection takes, if ``confirm`` is their number, which ``dry_run`` tells."""
        query = {**protocol.selection(status, title, media_type, sha256, filter, collection), "confirm": confirm}
        query["dryRun"] = "true" if dry_run else None
        return cast(Deletion, await self._transport.json(Request("DELETE", "/documents", query)))

    async def delete(self, id: str) -> None:
        """Delete a document. Takes effect immediately."""
        await self._transport.json(Request("DELETE", protocol.path_of(id)))

    async def retry(self, id: str) -> DocumentCreated:
        """Ingests a failed document again. Throws ConflictError where it has not failed."""
        request = Request("POST", protocol.path_of(id, "/retry"))
        return cast(DocumentCreated, await self._transport.json(request))

    async def refresh(self, id: str) -> Document:
        """Fetches a document again from the web address that it came from; ``revision`` grows where that has changed."""
        request = Request("POST", protocol.path_of(id, "/refresh"))
        return cast(Document, await self._transport.json(request))

    async def add_site(self, site: CreateSite) -> AsyncIterator[SiteLine]:
        """Adds the pages that a sitemap lists: says how many there are, then the result of each.

        Sent again, it adds new pages and refreshes the others.
        """
        request = Request("POST", "/documents/sitemap", json=site, accept="*/*")
        async with self._transport.open(request, stream=True) as response:
            async for text in response.aiter_lines():
                line = json.loads(text)
                if "page" not in line and "pages" not in line:
                    raise to_error(line["error"])
                yield cast(SiteLine, line)

    async def wait_until_ready(self, id: str, *, max_wait: float = 600) -> Document:
        """The document once it is ready. Throws IngestionError if it fails, TimeoutError after ``max_wait`` seconds."""
        deadline = monotonic() + max_wait
        wait = _FIRST_POLL
        while True:
            document = await self.get(id)
            if document["status"] == "ready":
                return document
            error = document.get("error")
            if document["status"] == "failed":
                message = error["message"] if error else "Ingestion failed"
                raise IngestionError(message, id, error["code"] if error else None)
            left = deadline - monotonic()
            if left <= 0:
                raise TimeoutError(f"{id} is still {document['status']}")
            await asyncio.sleep(min(wait, _MAX_POLL, left))
            wait *= 2


class AsyncAgent:
    """The agent, and what its operator does with its parts."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.skills = AsyncSkills(transport)
        self.sandbox = AsyncSandbox(transport)
        self.mcp = AsyncMcp(transport)
        self.accounts = AsyncAccounts(transport)

    async def get(self) -> AgentRecord:
        return cast(AgentRecord, await self._transport.json(Request("GET", "/agent")))

    async def tools(self) -> Sequence[Any]:
        answer = cast(ToolList, await self._transport.json(Request("GET", "/agent/tools")))
        return answer["tools"]

    async def capabilities(self) -> Capabilities:
        """What works at this moment."""
        request = Request("GET", "/agent/capabilities")
        return cast(Capabilities, await self._transport.json(request))


class AsyncSkills:
    """The sources of skills."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def reload(self, request: SkillReload | None = None) -> SkillList:
        """Reads them again; with ``accept``, accepts changes of remote ones."""
        sent = Request("POST", "/agent/skills/reload", json=request or {})
        return cast(SkillList, await self._transport.json(sent))


class AsyncSandbox:
    """Where the agent's code runs."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def verify(self) -> SandboxReport:
        """Tries what the sandbox must do, and what it must prevent."""
        sent = Request("POST", "/agent/sandbox/verify", timeout=TRIAL)
        return cast(SandboxReport, await self._transport.json(sent))


class AsyncMcp:
    """Connections to MCP servers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def test(self, name: str, request: McpTestRequest | None = None) -> McpTestResult:
        """Connects to an MCP server as chat does; a tool is called once only."""
        path = f"/agent/mcp/{quote(name, safe='')}/test"
        calls = bool(request and request.get("tool"))
        sent = Request("POST", path, json=request or {}, is_repeatable=not calls, timeout=TRIAL)
        return cast(McpTestResult, await self._transport.json(sent))


class AsyncAccounts:
    """Connections at which each person has an account of their own."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def list(self) -> McpAccountList:
        return cast(McpAccountList, await self._transport.json(Request("GET", "/agent/accounts")))

    async def connect(self, connection: str) -> McpAccountStart:
        """Begins to connect one; answers the address to open in a browser."""
        request = Request("POST", f"/agent/accounts/{quote(connection, safe='')}")
        return cast(McpAccountStart, await self._transport.json(request))

    async def disconnect(self, connection: str) -> None:
        """Deletes its tokens."""
        await self._transport.json(Request("DELETE", f"/agent/accounts/{quote(connection, safe='')}"))


class AsyncArtifacts:
    """The files that the agent's tools made."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def download(self, artifact: str | Artifact) -> bytes:
        id = artifact if isinstance(artifact, str) else artifact["id"]
        request = Request("GET", f"/artifacts/{quote(id, safe='')}", accept="*/*")
        async with self._transport.open(request) as response:
            return response.content
