"""Made by make_synchronous.py of the asynchronous twin: change that."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any, Generic, TypeVar, cast

import httpx

from . import protocol
from .contract import ChatFrame
from .errors import AgentServerError, NotFoundError
from .protocol import Request, Settings
from .results import Answer, Page, load_pandas

Item = TypeVar("Item")


class Transport:
    """Sends requests, and sends them again where that is safe and of use."""

    def __init__(self, settings: Settings, http: httpx.Client | None) -> None:
        self.settings = settings
        self.http = http or httpx.Client()

    def json(self, request: Request) -> Any:
        with self.open(request) as response:
            return protocol.parse_answer(response)

    @contextmanager
    def open(self, request: Request, stream: bool = False) -> Iterator[httpx.Response]:
        """The answer, which is read already unless it is to stream."""
        response = self._send(request, stream)
        try:
            yield response
        finally:
            response.close()

    def _send(self, request: Request, stream: bool) -> httpx.Response:
        upload = request.upload
        repeatable = request.is_repeatable and (upload is None or upload.is_repeatable)
        retries = self.settings.max_retries if repeatable else 0
        attempt = 0
        while True:
            try:
                return self._attempt(request, stream)
            except AgentServerError as error:
                # The attempt whose answer was lost may have deleted it.
                if request.method == "DELETE" and attempt > 0 and isinstance(error, NotFoundError):
                    return httpx.Response(204)
                wait = protocol.pause_before_retry(error, attempt) if attempt < retries else None
                if wait is None:
                    raise
            sleep(wait)
            attempt += 1

    def _attempt(self, request: Request, stream: bool) -> httpx.Response:
        upload = request.upload
        try:
            if upload is None:
                return self._once(request, None, stream)
            with upload.open() as content:
                return self._once(request, content, stream)
        except httpx.HTTPError as error:
            raise protocol.explain(request, self.settings, error) from error

    def _once(self, request: Request, content: Any, stream: bool) -> httpx.Response:
        sent = self.http.build_request(**request.arguments(self.settings, content))
        response = self.http.send(sent, stream=True)
        protocol.tell_watcher(response)
        try:
            if not request.is_taken(response):
                response.read()
                raise protocol.refusal_of(response, response.text, self.settings)
            protocol.warn(request, response)
            if not stream:
                response.read()
        except BaseException:
            response.close()
            raise
        return response


class ChatStream:
    """An answer as it is generated. It is read once: by a loop, or by ``text`` or ``result``.

    To leave it early, close it, or use it in a ``with`` block: that ends it at the server, too. A later server may
    send events of further types, which are passed on.
    """

    def __init__(self, transport: Transport, request: Request) -> None:
        self._reader = protocol.AnswerReader()
        self._events = self._read(transport, request)

    def __iter__(self) -> Iterator[ChatFrame]:
        return self._events

    def text(self) -> str:
        """The whole text of the answer."""
        return str((self.result())["text"])

    def result(self) -> Answer:
        """The whole answer: ``text``, ``hits``, ``citations``, ``artifacts`` and what else ``done`` holds."""
        for _ in self._events:
            pass
        if self._reader.done is None:
            raise self._reader.interrupted("it was left")
        return self._reader.result()

    def close(self) -> None:
        """Ends the answer, also at the server."""
        self._events.close()

    def __enter__(self) -> ChatStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, transport: Transport, request: Request) -> Generator[ChatFrame, None, None]:
        with transport.open(request, stream=True) as response:
            self._reader.request_id = response.headers.get("x-request-id")
            try:
                for line in response.iter_lines():
                    for event in self._reader.feed(line):
                        yield cast(ChatFrame, event)
                        if event["type"] == "done":
                            return
            except httpx.HTTPError as error:
                raise self._reader.interrupted(str(error)) from error
        raise self._reader.interrupted("no last event came")


class Pages(Generic[Item]):
    """A list, of which no more than one page is in memory: iterate over its items, or over its pages."""

    def __init__(self, name: str, read: Callable[[str | None], Any]) -> None:
        self._name = name
        self._read = read

    def page(self, cursor: str | None = None) -> Page[Item]:
        """Reads one page: the first, or the one at another page's ``next_cursor``."""
        page = self._read(cursor)
        # Lists of conversations are those of OpenAI's API.
        following = page.get("nextCursor") or (page["last_id"] if page.get("has_more") else None)
        return Page(page[self._name], following, page.get("total"))

    def pages(self) -> Iterator[Page[Item]]:
        cursor: str | None = None
        while True:
            page = self.page(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    def __iter__(self) -> Iterator[Item]:
        for page in self.pages():
            for item in page:
                yield item

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` of all pages. Throws ImportError where pandas is not installed."""
        pandas = load_pandas()
        return pandas.json_normalize([item for item in self])
