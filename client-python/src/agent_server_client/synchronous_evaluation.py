"""Made by make_synchronous.py of the asynchronous twin: change that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from urllib.parse import quote

from .synchronous_transport import Transport
from .contract import JudgedQuestion, JudgedQuestionList, NewJudgedLine, NewJudgedQuestion
from .protocol import Request

_QUESTIONS = "/evaluation/questions"


def _path_of(id: str) -> str:
    return f"{_QUESTIONS}/{quote(id, safe='')}"


class JudgedQuestions:
    """Questions whose right documents are known."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Sequence[JudgedQuestion]:
        """All, the oldest first."""
        answer = cast(JudgedQuestionList, self._transport.json(Request("GET", _QUESTIONS)))
        return answer["questions"]

    def create(self, question: NewJudgedQuestion) -> JudgedQuestion:
        request = Request("POST", _QUESTIONS, json=question, is_repeatable=False)
        return cast(JudgedQuestion, self._transport.json(request))

    def put(self, id: str, question: NewJudgedQuestion) -> JudgedQuestion:
        """Adds a question under an id of your own, or replaces it."""
        request = Request("PUT", _path_of(id), json=question)
        return cast(JudgedQuestion, self._transport.json(request))

    def delete(self, id: str) -> None:
        self._transport.json(Request("DELETE", _path_of(id)))

    def import_(self, questions: Sequence[NewJudgedLine]) -> Sequence[JudgedQuestion]:
        """Adds questions, and replaces those with the same ids; all or none. Returns those."""
        request = Request("POST", f"{_QUESTIONS}/import", json=questions, is_repeatable=False)
        return cast(JudgedQuestionList, self._transport.json(request))["questions"]


class Evaluation:
    """Measures search and answers."""

    def __init__(self, transport: Transport) -> None:
        self.questions = JudgedQuestions(transport)
