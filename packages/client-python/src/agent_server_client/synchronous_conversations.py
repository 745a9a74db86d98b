"""Made by make_synchronous.py of the asynchronous twin: change that."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import quote

from .synchronous_transport import ChatStream, Pages, Transport
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


class Conversations:
    """Conversations that the server stores; ask in one with ``chat`` and ``{"conversation": {"id": …}}``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, conversation: CreateConversation | None = None) -> Conversation:
        request = Request("POST", "/v1/conversations", json=conversation or {})
        return cast(Conversation, self._transport.json(request))

    def list(
        self, *, search: str | None = None, shared: bool = False, limit: int = 100
    ) -> Pages[Conversation]:
        """The most recently changed first; with ``search``, those with this text in title or question.

        With ``shared``, those that other people share with you instead of your own.
        """

        def read(after: str | None) -> Any:
            query = {"search": search, "limit": limit, "after": after}
            query["shared"] = "true" if shared else None
            return self._transport.json(Request("GET", "/v1/conversations", query))

        return Pages("data", read)

    def get(self, id: str) -> Conversation:
        return cast(Conversation, self._transport.json(Request("GET", _path_of(id))))

    def update(self, id: str, patch: ConversationPatch) -> Conversation:
        """Changes title, metadata or the branch to continue with."""
        request = Request("POST", _path_of(id), json=patch)
        return cast(Conversation, self._transport.json(request))

    def delete(self, id: str) -> None:
        self._transport.json(Request("DELETE", _path_of(id)))

    def items(self, id: str, *, branches: bool = False) -> Pages[ConversationItem]:
        """The items of the current branch or, with ``branches``, of all, the oldest first."""

        def read(after: str | None) -> Any:
            query = {"limit": 100, "order": "asc", "after": after}
            query["branches"] = "true" if branches else None
            return self._transport.json(Request("GET", _path_of(id, "items"), query))

        return Pages("data", read)

    def follow(self, id: str, answer: str) -> ChatStream:
        """An answer from its beginning with its steps, also while it is generated."""
        path, query = _path_of(id, "items", answer, "events"), {"includeSteps": "true"}
        return ChatStream(self._transport, Request("GET", path, query, accept="text/event-stream"))

    def cancel(self, id: str, answer: str) -> ConversationItem:
        """Stops an answer that is being generated; what there is of it is kept."""
        request = Request("POST", _path_of(id, "items", answer, "cancel"))
        return cast(ConversationItem, self._transport.json(request))


class Feedback:
    """What people think of answers."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def give(self, feedback: CreateFeedback) -> FeedbackRecord:
        """Rates an answer; a second rating replaces the first."""
        request = Request("POST", "/feedback", json=feedback)
        return cast(FeedbackRecord, self._transport.json(request))

    def list(
        self, *, rating: Rating | None = None, conversation_id: str | None = None, limit: int = 100
    ) -> Pages[FeedbackRecord]:
        """With the question, the answer and the documents that it cites, the newest first."""

        def read(cursor: str | None) -> Any:
            query = {"rating": rating, "conversationId": conversation_id, "limit": limit, "cursor": cursor}
            return self._transport.json(Request("GET", "/feedback", query))

        return Pages("feedback", read)

    def delete(self, id: str) -> None:
        self._transport.json(Request("DELETE", f"/feedback/{quote(id, safe='')}"))
