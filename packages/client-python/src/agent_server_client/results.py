"""Results that are dicts and lists as ever, and can also be shown and made a table of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any, Generic, Literal, TypeVar, overload

from httpx import Headers

from .contract import Artifact, Citation, Hit

Data = TypeVar("Data")

# Characters that ``repr`` shows of a text.
_MAX_SHOWN = 200
_UNSUPPORTED = (
    "The passage does not seem to say this: it lacks words, a number or a name of the statement. "
    "Compare them yourself."
)


@dataclass(frozen=True)
class Outcome(Generic[Data]):
    """The result of a call, with what came beside it; ``request_id`` names the request in the server's log."""

    data: Data
    status: int
    headers: Headers
    request_id: str | None


class Page(list[Data]):
    """One page of a list. ``next_cursor`` is None on the last; ``total`` counts all pages, if it was asked for."""

    def __init__(self, items: Iterable[Data], next_cursor: str | None, total: int | None) -> None:
        super().__init__(items)
        self.next_cursor = next_cursor
        self.total = total


class Hits(list[Hit]):
    """Passages, best first. A notebook shows them with their places; text of documents is never markup there."""

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` with a row for each hit. Throws ImportError where pandas is not installed."""
        return load_pandas().json_normalize(list(self))

    def __repr__(self) -> str:
        lines = [f"[{n}] {_label(hit)}: {_shorten(hit['text'])}" for n, hit in enumerate(self, 1)]
        return "\n".join([f"<Hits: {len(self)}", *lines]) + ">"

    def _repr_html_(self) -> str:
        return _list_of(_item(number, hit, [hit["text"]]) for number, hit in enumerate(self, 1))


class QueryResult(dict[str, Any]):
    """What a query found: ``query``, ``hits`` and what else the server says."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        super().__init__(fields, hits=Hits(fields["hits"]))

    @overload
    def __getitem__(self, name: Literal["hits"], /) -> Hits: ...
    @overload
    def __getitem__(self, name: str, /) -> Any: ...
    def __getitem__(self, name: str, /) -> Any:
        return super().__getitem__(name)

    def __repr__(self) -> str:
        return f"<QueryResult of {_shorten(self['query'])!r}: {self['hits']!r}>"

    def _repr_html_(self) -> str:
        return self["hits"]._repr_html_()


class Answer(dict[str, Any]):
    """A whole answer: ``[n]`` in ``text`` cites the n-th of ``hits``, and ``citations`` has what each rests on."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        lists = {name: fields.get(name, []) for name in ("artifacts", "citations")}
        super().__init__({**fields, **lists, "hits": Hits(fields["hits"])})

    @overload
    def __getitem__(self, name: Literal["text"], /) -> str: ...
    @overload
    def __getitem__(self, name: Literal["hits"], /) -> Hits: ...
    @overload
    def __getitem__(self, name: Literal["citations"], /) -> Sequence[Citation]: ...
    @overload
    def __getitem__(self, name: Literal["artifacts"], /) -> Sequence[Artifact]: ...
    @overload
    def __getitem__(self, name: str, /) -> Any: ...
    def __getitem__(self, name: str, /) -> Any:
        return super().__getitem__(name)

    def __repr__(self) -> str:
        count = len({citation["number"] for citation in self["citations"]})
        return f"<Answer: {_shorten(self['text'])!r}, {len(self['hits'])} hits, {count} cited>"

    def _repr_html_(self) -> str:
        """The text with the passages that it cites."""
        hits, cited = self["hits"], sorted({citation["number"] for citation in self["citations"]})
        sources = (self._source(number, hits[number - 1]) for number in cited if number <= len(hits))
        return f"{_paragraph(self['text'])}{_list_of(sources)}"

    def _source(self, number: int, hit: Hit) -> str:
        citations = [citation for citation in self["citations"] if citation["number"] == number]
        # In their order, each once.
        quotes = dict.fromkeys(quote["text"] for citation in citations for quote in citation["quotes"])
        unsupported = any(citation.get("supported") is False for citation in citations)
        return _item(number, hit, [*quotes], _UNSUPPORTED if unsupported else "")


def load_pandas() -> Any:
    """The module pandas, which is no dependency."""
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError("to_pandas() needs the package pandas: pip install pandas") from error


def _place(hit: Hit) -> str:
    if "page" in hit:
        last = hit.get("pageEnd", hit["page"])
        return f"page {hit['page']}" if last == hit["page"] else f"pages {hit['page']}–{last}"
    row = f"row {hit['row']}" if "row" in hit else ""
    return ", ".join(part for part in (hit.get("sheet", ""), row) if part)


def _label(hit: Hit) -> str:
    return ", ".join(_shorten(part) for part in (hit["title"] or hit["documentId"], _place(hit)) if part)


def _shorten(text: str) -> str:
    """On one line, without what a terminal would obey."""
    words = " ".join(text.split())
    shown = "".join(letter for letter in words if letter.isprintable())
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"


def _item(number: int, hit: Hit, texts: Sequence[str], doubt: str = "") -> str:
    label, url = escape(_label(hit)), hit.get("url", "")
    if url.startswith(("https://", "http://")):
        label = f'<a href="{escape(url)}" target="_blank" rel="noopener noreferrer">{label}</a>'
    below = "".join(_paragraph(text) for text in texts) + (f"<em>{doubt}</em>" if doubt else "")
    return f'<li value="{number}"><strong>{label}</strong>{below}</li>'


def _list_of(items: Iterable[str]) -> str:
    return f"<ol>{''.join(items)}</ol>"


def _paragraph(text: str) -> str:
    return f'<div style="white-space: pre-wrap">{escape(text)}</div>'
