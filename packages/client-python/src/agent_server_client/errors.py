"""What goes wrong, by kind. None of it holds the key."""

from __future__ import annotations

import builtins
from typing import Any

from .contract import ErrorCode


class AgentServerWarning(UserWarning):
    """What the server says of a request that it took, such as the name of a field that it does not know."""


class AgentServerError(Exception):
    """What all errors of this client are.

    ``status`` is the HTTP status, ``code`` the server's stable name of the failure (a newer server may have others),
    ``request_id`` names the request in the server's log, and ``retry_after`` are seconds, where the server says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: ErrorCode | str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code: ErrorCode | str | None = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.param = param

    def __str__(self) -> str:
        """The message, with the request's id: a traceback shows nothing else."""
        message = super().__str__()
        return message if self.request_id is None else f"{message} (request {self.request_id})"


class AuthenticationError(AgentServerError):
    """401: the key is missing or wrong."""


class PermissionDeniedError(AgentServerError):
    """403: the key is right, but this is not allowed."""


class NotFoundError(AgentServerError):
    """404: there is no such thing."""


class ConflictError(AgentServerError):
    """409: what is stored already does not allow this."""


class InvalidRequestError(AgentServerError):
    """Other refusals that only another request can mend; ``param`` names the field."""


class RateLimitError(AgentServerError):
    """429: too much at once."""


class UpstreamError(AgentServerError):
    """The chat model behind the server failed or refused."""


class ServerError(AgentServerError):
    """A fault of the server, or of something that answers in its place."""


class ConnectionError(AgentServerError, builtins.ConnectionError):  # noqa: A001 - the same name as in JavaScript
    """No answer came, or its rest did not. Python's own ``except ConnectionError`` takes it, too."""


class TimeoutError(AgentServerError, builtins.TimeoutError):  # noqa: A001 - the same name as in JavaScript
    """The server was silent for too long, or a wait was over. Python's own ``except TimeoutError`` takes it, too."""


class StreamInterruptedError(AgentServerError):
    """A stream ended before it was complete; ``text`` is the answer so far."""

    def __init__(self, message: str, text: str = "", request_id: str | None = None) -> None:
        super().__init__(message, request_id=request_id)
        self.text = text


class IngestionError(AgentServerError):
    """A document that was waited for has failed; ``code`` says why."""

    def __init__(self, message: str, document_id: str = "", code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.document_id = document_id


_BY_STATUS: dict[int, type[AgentServerError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}

_STATUS_BY_TYPE = {
    "authentication_error": 401,
    "permission_error": 403,
    "rate_limit_error": 429,
    "invalid_request_error": 400,
}


def to_error(
    detail: dict[str, Any],
    *,
    status: int | None = None,
    request_id: str | None = None,
    retry_after: float | None = None,
) -> AgentServerError:
    """The error for what the server says went wrong; ``detail`` may lack anything, as when a proxy answered."""
    kind, code = detail.get("type"), detail.get("code")
    if code == "upstream_rate_limited":
        kind, status = "rate_limit_error", 429
    if status is None:
        status = 404 if str(code).endswith("_not_found") else _STATUS_BY_TYPE.get(str(kind))
    if kind == "upstream_error":
        error: type[AgentServerError] = UpstreamError
    elif status in _BY_STATUS:
        error = _BY_STATUS[status]
    else:
        error = InvalidRequestError if status is not None and status < 500 else ServerError
    return error(
        str(detail.get("message") or f"The server answered {status or 'with an error'}"),
        status=status,
        code=code,
        request_id=detail.get("request_id") or request_id,
        retry_after=retry_after,
        param=detail.get("param"),
    )
