"""Stored conversations and feedback; the synchronous twin is made of it by make_synchronous.py."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, cast
from urllib.parse import quote

from .asynchronous_transport import AsyncChatStream, AsyncPages, Transport
from .contract import (
    Conversation1 as Conversation,
    ConversationItem,
    ConversationPatch,
    Feedback as FeedbackRecord,
    CreateConversation,
    CreateFeedback,
    Rating,
)
from .protocol import Request


def _path_of(*parts: str) -> str:
    return "/".join(["/v1/conversations", *(quote(part, safe="") for part in parts)])


class AsyncConversations:
    """Conversations that the server stores; ask in one with ``chat`` and ``{"conversation": {"id": …}}``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(self, conversation: CreateConversation | None = None) -> Conversation:
        request = Request("POST", "/v1/conversations", json=conversation or {})
        return cast(Conversation, await self._transport.json(request))

    def list(
        self, *, search: str | None = None, shared: bool = False, limit: int = 100
    ) -> AsyncPages[Conversation]:
        """The most recently changed first; with ``search``, those with this text in title or question.

        With ``shared``, those that other people share with you instead of your own.
        """

        def read(after: str | None) -> Awaitable[Any]:
            query = {"search": search, "limit": limit, "after": after}
            query["shared"] = "true" if shared else None
            return self._transport.json(Request("GET", "/v1/conversations", query))

        return AsyncPages("data", read)

    async def get(self, id: str) -> Conversation:
        return cast(Conversation, await self._transport.json(Request("GET", _path_of(id))))

    async def update(self, id: str, patch: ConversationPatch) -> Conversation:
        """Changes title, metadata or the branch to continue with."""
        request = Request("POST", _path_of(id), json=patch)
        return cast(Conversation, await self._transport.json(request))

    async def delete(self, id: str) -> None:
        await self._transport.json(Request("DELETE", _path_of(id)))

    def items(self, id: str, *, branches: bool = False) -> AsyncPages[ConversationItem]:
        """The items of the current branch or, with ``branches``, of all, the oldest first."""

        def read(after: str | None) -> Awaitable[Any]:
            query = {"limit": 100, "order": "asc", "after": after}
            query["branches"] = "true" if branches else None
            return self._transport.json(Request("GET", _path_of(id, "items"), query))

        return AsyncPages("data", read)

    def follow(self, id: str, answer: str) -> AsyncChatStream:
        """An answer from its beginning with its steps, also while it is generated."""
        path, query = _path_of(id, "items", answer, "events"), {"includeSteps": "true"}
        return AsyncChatStream(self._transport, Request("GET", path, query, accept="text/event-stream"))

    async def cancel(self, id: str, answer: str) -> ConversationItem:
        """Stops an answer that is being generated; what there is of it is kept."""
        request = Request("POST", _path_of(id, "items", answer, "cancel"))
        return cast(ConversationItem, await self._transport.json(request))


class AsyncFeedback:
    """What people think of answers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def give(self, feedback: CreateFeedback) -> FeedbackRecord:
        """Rates an answer; a second rating replaces the first."""
        request = Request("POST", "/feedback", json=feedback)
        return cast(FeedbackRecord, await self._transport.json(request))

    def list(
        self, *, rating: Rating | None = None, conversation_id: str | None = None, limit: int = 100
    ) -> AsyncPages[FeedbackRecord]:
        """With the question, the answer and the documents that it cites, the newest first."""

        def read(cursor: str | None) -> Awaitable[Any]:
            query = {"rating": rating, "conversationId": conversation_id, "limit": limit, "cursor": cursor}
            return self._transport.json(Request("GET", "/feedback", query))

        return AsyncPages("feedback", read)

    async def delete(self, id: str) -> None:
        await self._transport.json(Request("DELETE", f"/feedback/{quote(id, safe='')}"))
