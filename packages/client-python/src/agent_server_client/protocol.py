"""What the synchronous and the asynchronous client share: requests, retries, events. Nothing here waits."""

from __future__ import annotations

import inspect
import io
import json
import os
import random
import re
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from pathlib import Path
from time import time
from typing import IO, Any, TypedDict
from urllib.parse import quote

import httpx
from typing_extensions import NotRequired

from .contract import ChatOptions, Metadata, QueryOptions
from .errors import (
    AgentServerError,
    AgentServerWarning,
    ConnectionError,
    ServerError,
    StreamInterruptedError,
    TimeoutError,
    to_error,
)
from .results import Answer, Data, Outcome
from .version import __version__

LOCAL_URL = "http://127.0.0.1:3000"
TIMEOUT = 120.0
MAX_RETRIES = 2
# Seconds: a verification runs real code up to its limits, and a test waits for the MCP server.
TRIAL = 600.0
_FIRST_PAUSE = 0.5
_MAX_PAUSE = 8.0
# A server that wants to be left alone for longer is not asked again: waiting is then for the caller to decide.
_MAX_RETRY_AFTER = 60.0
# Characters of a refusal that are looked at, and of one event.
_MAX_REFUSAL = 65_536
_MAX_EVENT = 32_000_000
# A shorter text is no key of a server, and may occur within any word.
_MIN_SECRET = 8
_ANY_TYPE = "application/octet-stream"

Source = str | os.PathLike[str] | bytes | IO[bytes]
# Is told how many bytes are sent, and of how many if that is known.
Progress = Callable[[int, int | None], object]


@dataclass
class Settings:
    """Where the server is, and how it is asked."""

    base_url: str
    api_key: str | None = field(repr=False)
    timeout: float
    max_retries: int
    headers: dict[str, str] = field(repr=False)
    # That of ``with_options``, which goes before what a request takes otherwise.
    call_timeout: float | None = None

    def changed(
        self, timeout: float | None, max_retries: int | None, headers: Mapping[str, str] | None
    ) -> Settings:
        return replace(
            self,
            call_timeout=self.call_timeout if timeout is None else timeout,
            max_retries=self.max_retries if max_retries is None else max_retries,
            headers={**self.headers, **(headers or {})},
        )


def read_settings(
    base_url: str | None,
    api_key: str | None,
    timeout: float,
    max_retries: int,
    headers: Mapping[str, str] | None,
) -> Settings:
    """Throws ValueError where there is no key, or the URL cannot be one."""
    url = (base_url or os.environ.get("AGENT_SERVER_URL") or LOCAL_URL).rstrip("/")
    key = api_key or os.environ.get("AGENT_SERVER_KEY")
    if not re.match(r"https?://[^/@]+(/|$)", url):
        raise ValueError("base_url must begin with http:// or https://, and hold no name or password")
    if not key:
        raise ValueError("There is no key: set api_key or the variable AGENT_SERVER_KEY")
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise ValueError("This is not a valid key: it has a space, a line break or a character outside ASCII. Copy it again")
    return Settings(url, key, timeout, max_retries, dict(headers or {}))


@dataclass
class Upload:
    """A file with the fields beside it, sent as a form and never held whole in memory."""

    source: Source
    name: str
    fields: dict[str, str]
    type: str = _ANY_TYPE
    on_progress: Progress | None = None

    @property
    def is_repeatable(self) -> bool:
        return isinstance(self.source, (str, os.PathLike, bytes)) or self.source.seekable()

    @contextmanager
    def open(self) -> Iterator[UploadReader]:
        """The content from its beginning, for one attempt."""
        if isinstance(self.source, (str, os.PathLike)):
            with Path(self.source).open("rb") as file:
                yield UploadReader(file, self.on_progress)
        elif isinstance(self.source, bytes):
            yield UploadReader(io.BytesIO(self.source), self.on_progress)
        else:
            yield UploadReader(self.source, self.on_progress)


class UploadReader:
    """A file that ``httpx`` reads while it is sent. A pipe has no length, and is sent without one."""

    def __init__(self, file: IO[bytes], on_progress: Progress | None) -> None:
        self._file = file
        self._on_progress = on_progress
        self._total = file.seek(0, os.SEEK_END) if file.seekable() else None
        self._sent = 0
        if self._total is not None:
            file.seek(0)

    def read(self, size: int) -> bytes:
        # Whoever asks for more has sent what was read before.
        if self._on_progress is not None:
            self._on_progress(self._sent, self._total)
        piece = self._file.read(size)
        self._sent += len(piece)
        return piece

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if self._total is None:
            raise io.UnsupportedOperation("A pipe is read once")
        return self._file.seek(offset, whence)


@dataclass
class Request:
    """One request, however often it is sent."""

    method: str
    path: str
    query: dict[str, Any] = field(default_factory=dict)
    json: Any = None
    upload: Upload | None = None
    # The parts of a form, in their order.
    form: Sequence[tuple[str, Any]] | None = None
    idempotency_key: str | None = None
    also_taken: int | None = None
    is_repeatable: bool = True
    accept: str = "application/json"
    timeout: float | None = None

    def __post_init__(self) -> None:
        if re.search(r"/\.{0,2}(/|$)", self.path):
            # No path can hold such an id: it would call something else.
            raise ValueError('An id must not be empty, "." or ".."')
        if self.method == "POST" and self.idempotency_key is None:
            self.idempotency_key = secrets.token_hex(16)

    def arguments(self, settings: Settings, content: UploadReader | None) -> dict[str, Any]:
        """What ``httpx`` is called with."""
        headers = {"accept": self.accept, "user-agent": f"agent-server-client-python/{__version__}"}
        if settings.api_key is not None:
            headers["authorization"] = f"Bearer {settings.api_key}"
        if self.idempotency_key is not None:
            headers["idempotency-key"] = self.idempotency_key
        arguments: dict[str, Any] = {
            "method": self.method,
            "url": settings.base_url + self.path,
            "params": {name: value for name, value in self.query.items() if value is not None},
            "headers": {**headers, **settings.headers},
            "timeout": self.timeout_with(settings),
        }
        if self.upload is not None:
            arguments["files"] = {"file": (self.upload.name, content, self.upload.type)}
            arguments["data"] = self.upload.fields
        elif self.form is not None:
            arguments["files"] = self.form
        elif self.json is not None:
            arguments["json"] = self.json
        return arguments

    def timeout_with(self, settings: Settings) -> float:
        """Seconds of the server's silence."""
        return settings.call_timeout or self.timeout or settings.timeout

    def is_taken(self, response: httpx.Response) -> bool:
        return response.is_success or response.status_code == self.also_taken


def selection(
    status: str | None,
    title: str | None,
    media_type: str | None,
    sha256: str | None,
    filter: Any,
    collection: str | None,
) -> dict[str, Any]:
    """Which documents, as the query of a request."""
    return {
        "status": status,
        "title": title,
        "mediaType": media_type,
        "sha256": sha256,
        "filter": None if filter is None else json.dumps(filter),
        "collection": collection,
    }


def path_of(id: str, rest: str = "") -> str:
    return f"/documents/{quote(id, safe='')}{rest}"


def path_of_collection(name: str) -> str:
    return f"/collections/{quote(name, safe='')}"


def upload_of(
    source: Source,
    *,
    name: str | None,
    type: str | None,
    title: str | None,
    url: str | None,
    metadata: Mapping[str, Any] | None,
    collection: str | None,
    access: Sequence[str] | None,
    conversation: str | None,
    on_progress: Progress | None,
) -> Upload:
    """Throws TypeError for a file that is opened for reading text."""
    fields = {
        "title": title,
        "url": url,
        "metadata": metadata,
        "collection": collection,
        "access": access,
        "conversation": conversation,
    }
    return Upload(source, _name_of(source, name), _texts_of(fields), type or _ANY_TYPE, on_progress)


def _name_of(source: Source, name: str | None) -> str:
    if isinstance(source, io.TextIOBase):
        raise TypeError("A file must be opened for reading bytes: open(path, 'rb')")
    if not isinstance(source, (str, os.PathLike, bytes)) and not hasattr(source, "read"):
        raise TypeError("A file is uploaded from a path, from bytes, or from a file opened for reading bytes")
    given = source if isinstance(source, (str, os.PathLike)) else getattr(source, "name", "")
    return name or os.path.basename(os.fspath(given) if isinstance(given, (str, os.PathLike)) else "") or "document"


def _texts_of(fields: Mapping[str, Any]) -> dict[str, str]:
    """What is given of the fields of a form."""
    given = {name: value for name, value in fields.items() if value is not None}
    for name in ("metadata", "access"):
        if name in given:
            given[name] = json.dumps(given[name])
    return given


class SmallFile(TypedDict):
    """One of several files that are uploaded together, with the fields that belong to it."""

    file: Source
    name: NotRequired[str]
    type: NotRequired[str]
    title: NotRequired[str]
    url: NotRequired[str]
    metadata: NotRequired[Metadata]
    collection: NotRequired[str]
    access: NotRequired[Sequence[str]]
    conversation: NotRequired[str]
    idempotencyKey: NotRequired[str]


def form_of(files: Sequence[SmallFile]) -> list[tuple[str, Any]]:
    """Each file behind its fields. Gives each a key, so that a repeated form adds none twice."""
    key = secrets.token_hex(16)
    form: list[tuple[str, Any]] = []
    for number, small in enumerate(files):
        fields: dict[str, Any] = {"idempotencyKey": f"{key}-{number}", **small}
        source, name, type = fields.pop("file"), fields.pop("name", None), fields.pop("type", None)
        upload = Upload(source, _name_of(source, name), _texts_of(fields), type or _ANY_TYPE)
        form += [(field, (None, text)) for field, text in upload.fields.items()]
        with upload.open() as content:
            form.append(("file", (upload.name, content.read(-1), upload.type)))
    return form


def with_keys(documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Gives each that has no id a key, so that a repeated batch adds none twice."""
    key = secrets.token_hex(16)
    return [
        dict(document)
        if document.get("id") or document.get("idempotencyKey")
        else {**document, "idempotencyKey": f"{key}-{number}"}
        for number, document in enumerate(documents)
    ]


def pause_before_retry(error: AgentServerError, attempt: int) -> float | None:
    """Seconds to wait before a failed attempt is made again; None where that is of no use."""
    if error.code in ("upstream_unauthorized", "storage_full"):
        return None  # A wrong key of the server's model stays wrong, and a disk full.
    status, retry_after = error.status or 0, error.retry_after
    passing = isinstance(error, (ConnectionError, TimeoutError)) or status in (408, 429) or status >= 500
    if not passing and not (status == 409 and retry_after is not None):
        return None
    if retry_after is not None:
        return retry_after if retry_after <= _MAX_RETRY_AFTER else None
    pause: float = min(_FIRST_PAUSE * 2**attempt, _MAX_PAUSE)
    return pause * (0.5 + random.random() / 2)


def explain(request: Request, settings: Settings, error: httpx.HTTPError) -> AgentServerError:
    what = f"{request.method} {settings.base_url}{request.path}"
    if isinstance(error, httpx.TimeoutException):
        return TimeoutError(f"{what}: nothing was heard for {request.timeout_with(settings)} s")
    return ConnectionError(f"{what}: the server cannot be reached, or the connection broke ({error})")


def refusal_of(response: httpx.Response, text: str, settings: Settings) -> AgentServerError:
    """The error that an answer is; whoever answers may repeat what was sent, so the key is taken out."""
    text = text[:_MAX_REFUSAL]
    if settings.api_key and len(settings.api_key) >= _MIN_SECRET:
        text = text.replace(settings.api_key, "[key]")
    try:
        detail = json.loads(text).get("error")
    except (ValueError, AttributeError):
        detail = None
    return to_error(
        detail if isinstance(detail, dict) else {},
        status=response.status_code,
        request_id=response.headers.get("x-request-id"),
        retry_after=_retry_after(response),
    )


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(float(value), 0.0)
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(value).timestamp() - time(), 0.0)
    except ValueError:
        return None


_watcher: ContextVar[list[httpx.Response] | None] = ContextVar("watcher", default=None)


@contextmanager
def watch() -> Iterator[list[httpx.Response]]:
    """The last response to what is sent within, once there is one."""
    last: list[httpx.Response] = []
    token = _watcher.set(last)
    try:
        yield last
    finally:
        _watcher.reset(token)


def tell_watcher(response: httpx.Response) -> None:
    last = _watcher.get()
    if last is not None:
        last[:] = [response]


def outcome_of(data: Data, last: list[httpx.Response]) -> Outcome[Data]:
    if not last:
        raise TypeError("This call sends nothing by itself. Give the method ``result`` of an answer, or ``page`` of a list")
    response = last[0]
    return Outcome(data, response.status_code, response.headers, response.headers.get("x-request-id"))


def warn(request: Request, response: httpx.Response) -> None:
    """Shows what the server says of a request that it took, such as a field that it does not know."""
    text = response.headers.get("warnings")
    if text:
        message = f"{request.method} {request.path}: {text}"
        warnings.warn(message, AgentServerWarning, stacklevel=_depth_of_caller())


def _depth_of_caller() -> int:
    """How far up the stack the program is that uses the client: a warning names its line."""
    frame, depth = inspect.currentframe(), 0
    while frame and frame.f_globals.get("__name__", "").split(".")[0] in (__package__, "contextlib"):
        frame, depth = frame.f_back, depth + 1
    return depth


def query_of(request: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent to find passages, of a question alone, too."""
    return {**({"query": request} if isinstance(request, str) else request or {}), **_sent(options, QueryOptions)}


def chat_of(request: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """What is sent to be answered, of a question alone, too."""
    asked = {"messages": [{"role": "user", "content": request}]} if isinstance(request, str) else request or {}
    return {**asked, **_sent(options, ChatOptions)}


def _sent(options: Mapping[str, Any], known: Any) -> dict[str, Any]:
    """Keyword arguments under the names that are sent. Throws TypeError for one that there is not."""
    names: dict[str, str] = {name: _camel(name) for name in known.__annotations__}
    for name in options:
        if name not in names:
            near = get_close_matches(name.lower(), names, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
            raise TypeError(f"There is no keyword argument {name}: {hint}")
    return {names[name]: value for name, value in options.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def parse_answer(response: httpx.Response) -> Any:
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError as error:
        raise ServerError(
            "The answer is not JSON: this may not be an Agent Server, but something in its place",
            status=response.status_code,
        ) from error


class AnswerReader:
    """Makes events of the lines of a chat, and remembers what has come."""

    def __init__(self) -> None:
        self.text = ""
        self.request_id: str | None = None
        self.done: dict[str, Any] | None = None
        self._approval: dict[str, Any] = {}
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, line: str) -> Iterator[dict[str, Any]]:
        """The event that a line ends, if it does. Throws what the server says went wrong."""
        self._size += len(line)
        if self._size > _MAX_EVENT:
            raise self.interrupted("an event is too large")
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                self._event = value
            elif name == "data":
                self._data.append(value)
            return
        event, data = self._event or "message", "\n".join(self._data)
        self._event, self._data, self._size = "", [], 0
        if data:
            yield from self._take(event, data)

    def _take(self, event: str, data: str) -> Iterator[dict[str, Any]]:
        try:
            frame = json.loads(data)
        except ValueError:
            frame = None
        if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
            if event in ("message", "done", "error"):
                raise self.interrupted("an event cannot be read")
            return
        if frame["type"] == "error":
            error = to_error(frame.get("error") or {})
            if not self.text:
                raise error
            cut = StreamInterruptedError(str(error.args[0]), self.text, error.request_id or self.request_id)
            cut.code, cut.retry_after = error.code, error.retry_after
            raise cut from error
        if frame["type"] == "text-delta":
            self.text += frame["text"]
        elif frame["type"] == "approval-required":
            self._approval = {"approval": {"calls": frame["calls"], "state": frame["state"]}}
        elif frame["type"] == "done":
            self.done = frame
        yield frame

    def interrupted(self, why: str) -> StreamInterruptedError:
        message = f"The answer ended before it was complete: {why}"
        return StreamInterruptedError(message, self.text, self.request_id)

    def result(self) -> Answer:
        done = {name: value for name, value in (self.done or {}).items() if name != "type"}
        return Answer({**done, **self._approval, "text": self.text})
