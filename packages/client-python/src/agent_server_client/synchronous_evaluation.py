"""Made by make_synchronous.py of the asynchronous twin: change that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast
from urllib.parse import quote

from .synchronous_transport import Transport
from .contract import (
    EvaluationComparison,
    EvaluationReport,
    EvaluationRun,
    EvaluationRunList,
    JudgedQuestion,
    JudgedQuestionList,
    CreateEvaluationRun,
    CreateJudgedLine,
    CreateJudgedQuestion,
)
from .protocol import Request

_QUESTIONS = "/evaluation/questions"
_RUNS = "/evaluation/runs"


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

    def create(self, question: CreateJudgedQuestion) -> JudgedQuestion:
        request = Request("POST", _QUESTIONS, json=question, is_repeatable=False)
        return cast(JudgedQuestion, self._transport.json(request))

    def put(self, id: str, question: CreateJudgedQuestion) -> JudgedQuestion:
        """Adds a question under an id of your own, or replaces it."""
        request = Request("PUT", _path_of(id), json=question)
        return cast(JudgedQuestion, self._transport.json(request))

    def delete(self, id: str) -> None:
        self._transport.json(Request("DELETE", _path_of(id)))

    def import_(self, questions: Sequence[CreateJudgedLine]) -> Sequence[JudgedQuestion]:
        """Adds questions, and replaces those with the same ids; all or none. Returns those."""
        request = Request("POST", f"{_QUESTIONS}/import", json=questions, is_repeatable=False)
        return cast(JudgedQuestionList, self._transport.json(request))["questions"]


class EvaluationRuns:
    """What search and answers are worth, measured with the judged questions."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(self, run: CreateEvaluationRun | None = None) -> EvaluationRun:
        """Begins one, which runs in the background; one at a time."""
        request = Request("POST", _RUNS, json=run or {}, is_repeatable=False)
        return cast(EvaluationRun, self._transport.json(request))

    def list(self) -> Sequence[EvaluationRun]:
        """The last 50, the newest first."""
        return cast(EvaluationRunList, self._transport.json(Request("GET", _RUNS)))["runs"]

    def get(self, id: str) -> EvaluationReport:
        """With its progress or, once it is done, the outcome of each question."""
        request = Request("GET", f"{_RUNS}/{quote(id, safe='')}")
        return cast(EvaluationReport, self._transport.json(request))

    def cancel(self, id: str) -> EvaluationRun:
        """Does nothing if it has ended."""
        request = Request("POST", f"{_RUNS}/{quote(id, safe='')}/cancel")
        return cast(EvaluationRun, self._transport.json(request))

    def compare(self, before: str, now: str) -> EvaluationComparison:
        """Measures side by side, and the questions that came out differently."""
        request = Request("GET", "/evaluation/comparison", {"before": before, "now": now})
        return cast(EvaluationComparison, self._transport.json(request))


class Evaluation:
    """Measures search and answers."""

    def __init__(self, transport: Transport) -> None:
        self.questions = JudgedQuestions(transport)
        self.runs = EvaluationRuns(transport)
