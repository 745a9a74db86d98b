"""DSPy over chat completions and Responses."""

from __future__ import annotations

from typing import Any

import dspy
import pytest
from conftest import ANSWER, KEY, QUESTION

# DSPy knows by the name what a model can do; any name selects the agent.
NAME = "openai/gpt-4.1"
KINDS = pytest.mark.parametrize("kind", ["chat", "responses"])


@pytest.fixture
def options(base_url: str) -> dict[str, Any]:
    return {"api_base": base_url, "api_key": KEY, "cache": False, "num_retries": 0}


@KINDS
def test_it_answers(kind: str, options: dict[str, Any]) -> None:
    [answer] = dspy.LM(NAME, model_type=kind, **options)(QUESTION)
    assert ANSWER in repr(answer)


@KINDS
def test_its_signatures_are_filled(kind: str, options: dict[str, Any]) -> None:
    lm = dspy.LM(NAME, model_type=kind, **options)
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        assert dspy.Predict("question -> hour: int")(question=QUESTION).hour == 10


@KINDS
def test_it_calls_its_tools(kind: str, options: dict[str, Any]) -> None:
    class Asked(dspy.Signature):
        question: str = dspy.InputField()
        tools: list[dspy.Tool] = dspy.InputField()
        calls: dspy.ToolCalls = dspy.OutputField()

    def lamp(on: bool) -> str:
        """Switches the lamp."""
        return "on" if on else "off"

    lm = dspy.LM(NAME, model_type=kind, **options)
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_native_function_calling=True)):
        said = dspy.Predict(Asked)(question="Light, please.", tools=[dspy.Tool(lamp)])
    [call] = said.calls.tool_calls
    assert (call.name, call.args) == ("lamp", {"on": True})


def test_it_embeds_by_the_model_of_the_documents(options: dict[str, Any]) -> None:
    where = {name: options[name] for name in ("api_base", "api_key")}
    embed = dspy.Embedder("openai/any", caching=False, **where)
    owls, herons = embed(["Owls hunt.", "Herons fish."])
    assert len(owls) > 1
    assert list(owls) != list(herons)
