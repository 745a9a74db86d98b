"""The client of Agent Server, synchronous and asynchronous."""

from .asynchronous import AsyncAgentServer, AsyncChatStream
from .errors import (
    AgentServerError,
    AuthenticationError,
    ConflictError,
    ConnectionError,
    IngestionError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    StreamInterruptedError,
    TimeoutError,
    UpstreamError,
)
from .synchronous import AgentServer, ChatStream

__all__ = [
    "AgentServer",
    "AgentServerError",
    "AsyncAgentServer",
    "AsyncChatStream",
    "AuthenticationError",
    "ChatStream",
    "ConflictError",
    "ConnectionError",
    "IngestionError",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServerError",
    "StreamInterruptedError",
    "TimeoutError",
    "UpstreamError",
]
