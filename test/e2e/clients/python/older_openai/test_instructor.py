"""Instructor over chat completions and Responses."""

from __future__ import annotations

import instructor
import pytest
from conftest import KEY, QUESTION
from instructor import Mode
from openai import OpenAI
from pydantic import BaseModel


class Hours(BaseModel):
    hour: int


class lamp(BaseModel):  # noqa: N801
    """Switches the lamp."""

    on: bool


def at(base_url: str, mode: Mode) -> instructor.Instructor:
    client = OpenAI(base_url=base_url, api_key=KEY, max_retries=0)
    return instructor.from_openai(client, mode=mode)


def asked(question: str) -> dict[str, object]:
    return {"model": "agent", "messages": [{"role": "user", "content": question}]}


@pytest.mark.parametrize("mode", [Mode.JSON, Mode.JSON_SCHEMA], ids=lambda mode: mode.value)
def test_it_reads_an_object_plain_and_streamed(base_url: str, mode: Mode) -> None:
    client = at(base_url, mode).chat.completions
    request = asked(QUESTION)
    assert client.create(response_model=Hours, max_retries=0, **request).hour == 10
    *_, last = client.create_partial(response_model=Hours, max_retries=0, **request)
    assert last.hour == 10


def test_it_calls_its_tools(base_url: str) -> None:
    client = at(base_url, Mode.TOOLS).chat.completions
    request = asked("Light, please.")
    assert client.create(response_model=lamp, max_retries=0, **request).on


def test_it_calls_its_tools_over_responses(base_url: str) -> None:
    client = at(base_url, Mode.RESPONSES_TOOLS).responses
    said = client.create(
        input="Light, please.", model="agent", response_model=lamp, max_retries=0
    )
    assert said.on
