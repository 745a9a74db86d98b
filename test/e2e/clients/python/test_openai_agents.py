"""The Agents SDK for Python with its defaults, but for the address."""

from __future__ import annotations

import json

import pytest
from agents import (
    Agent,
    FileSearchTool,
    OpenAIProvider,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
)
from conftest import ANSWER, LIT, QUESTION, Model
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent

pytestmark = pytest.mark.anyio
AFTERWARDS = ["system", "user", "assistant", "user"]


@function_tool
def lamp(on: bool) -> str:
    """Switches the lamp."""
    return f"the lamp is {'on' if on else 'off'}"


LIBRARIAN: Agent[None] = Agent(name="Librarian", instructions="Be brief.")
LAMPIST: Agent[None] = Agent(name="Lampist", instructions="Be brief.", tools=[lamp])
BIRDER: Agent[None] = Agent(
    name="Birder",
    instructions="Be brief.",
    tools=[FileSearchTool(vector_store_ids=["vs_birds"], include_search_results=True)],
)


def over(client: AsyncOpenAI, *, responses: bool = True) -> RunConfig:
    provider = OpenAIProvider(openai_client=client, use_responses=responses)
    return RunConfig(model_provider=provider, tracing_disabled=True)


async def streamed(agent: Agent[None], question: str, config: RunConfig) -> str:
    result = Runner.run_streamed(agent, question, run_config=config)
    text = ""
    async for event in result.stream_events():
        if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent):
            text += event.data.delta
    assert text == result.final_output
    return text


@pytest.mark.parametrize("responses", [True, False], ids=["responses", "chat-completions"])
async def test_it_answers_plain_and_streamed(connected: AsyncOpenAI, *, responses: bool) -> None:
    config = over(connected, responses=responses)
    assert (await Runner.run(LIBRARIAN, QUESTION, run_config=config)).final_output == ANSWER
    assert await streamed(LIBRARIAN, QUESTION, config) == ANSWER


@pytest.mark.parametrize("responses", [True, False], ids=["responses", "chat-completions"])
async def test_it_runs_its_tools_plain_and_streamed(
    connected: AsyncOpenAI, *, responses: bool
) -> None:
    config = over(connected, responses=responses)
    assert (await Runner.run(LAMPIST, "Light, please.", run_config=config)).final_output == LIT
    assert await streamed(LAMPIST, "Light, please.", config) == LIT


async def test_it_goes_on_from_a_response_with_the_history_and_with_a_session(
    connected: AsyncOpenAI, model: Model
) -> None:
    config = over(connected)
    first = await Runner.run(LIBRARIAN, QUESTION, run_config=config)
    before = first.last_response_id
    await Runner.run(LIBRARIAN, "And on Sundays?", previous_response_id=before, run_config=config)
    assert model.roles() == AFTERWARDS
    history = [*first.to_input_list(), {"role": "user", "content": "And on Mondays?"}]
    await Runner.run(LIBRARIAN, history, run_config=config)
    assert model.roles() == AFTERWARDS
    session = SQLiteSession("one")
    for question in (QUESTION, "And on Sundays?"):
        await Runner.run(LIBRARIAN, question, session=session, run_config=config)
    assert model.roles() == AFTERWARDS


async def test_it_reads_what_an_answer_cites_and_what_file_search_found(
    connected: AsyncOpenAI,
) -> None:
    result = await Runner.run(BIRDER, "What do owls do at night?", run_config=over(connected))
    output = [item.model_dump() for item in result.raw_responses[0].output]
    found = next(item for item in output if item["type"] == "file_search_call")
    assert [each["text"] for each in found["results"]] == ["Owls hunt at night."]
    assert '"filename": "owls.txt"' in json.dumps(output[-1]["content"][0]["annotations"])
