"""The client of Agent Server, synchronous and asynchronous."""

from .asynchronous import AsyncAgentServer
from .asynchronous_transport import AsyncChatStream
from .errors import (
    AgentServerError,
    AgentServerWarning,
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
from .results import Answer, Hits, Outcome, Page, QueryResult
from .synchronous import AgentServer
from .synchronous_transport import ChatStream
from .version import __version__

__all__ = [
    "AgentServer",
    "AgentServerError",
    "AgentServerWarning",
    "Answer",
    "AsyncAgentServer",
    "AsyncChatStream",
    "AuthenticationError",
    "ChatStream",
    "ConflictError",
    "ConnectionError",
    "Hits",
    "IngestionError",
    "InvalidRequestError",
    "NotFoundError",
    "Outcome",
    "Page",
    "PermissionDeniedError",
    "QueryResult",
    "RateLimitError",
    "ServerError",
    "StreamInterruptedError",
    "TimeoutError",
    "UpstreamError",
    "__version__",
]
