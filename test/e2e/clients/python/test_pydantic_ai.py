"""pydantic-ai with its models for OpenAI."""

from __future__ import annotations

import pytest
from conftest import ANSWER, LIT, QUESTION, Model
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, Embedder, FileSearchTool, NativeOutput, TextPart
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

pytestmark = pytest.mark.anyio
MODELS = pytest.mark.parametrize(
    "kind", [OpenAIResponsesModel, OpenAIChatModel], ids=["responses", "chat-completions"]
)
AFTERWARDS = ["system", "user", "assistant", "user"]


def served(connected: AsyncOpenAI, kind: type = OpenAIResponsesModel) -> OpenAIResponsesModel:
    return kind("agent", provider=OpenAIProvider(openai_client=connected))


def lamp(on: bool) -> str:
    """Switches the lamp."""
    return f"the lamp is {'on' if on else 'off'}"


async def streamed(agent: Agent[None, str], question: str) -> str:
    async with agent.run_stream(question) as result:
        return "".join([part async for part in result.stream_text(delta=True)])


@MODELS
async def test_it_answers_plain_and_streamed(connected: AsyncOpenAI, kind: type) -> None:
    agent = Agent(served(connected, kind), instructions="Be brief.")
    assert (await agent.run(QUESTION)).output == ANSWER
    assert await streamed(agent, QUESTION) == ANSWER


@MODELS
async def test_it_runs_its_tools_plain_and_streamed(connected: AsyncOpenAI, kind: type) -> None:
    agent = Agent(served(connected, kind), tools=[lamp])
    assert (await agent.run("Light, please.")).output == LIT
    assert await streamed(agent, "Light, please.") == LIT


@MODELS
async def test_it_reads_native_output(connected: AsyncOpenAI, kind: type) -> None:
    class Hours(BaseModel):
        hour: int

    agent = Agent(served(connected, kind), output_type=NativeOutput(Hours))
    assert (await agent.run(QUESTION)).output == Hours(hour=10)


async def test_it_goes_on_with_the_history_and_from_a_response(
    connected: AsyncOpenAI, model: Model
) -> None:
    agent = Agent(served(connected))
    first = await agent.run(QUESTION)
    await agent.run("And on Sundays?", message_history=first.all_messages())
    assert model.roles() == AFTERWARDS
    before = first.all_messages()[-1].provider_response_id
    settings = {"openai_previous_response_id": before}
    await agent.run("And on Sundays?", model_settings=settings)
    assert model.roles() == AFTERWARDS


async def test_it_reads_what_an_answer_cites_of_the_store_that_its_file_search_names(
    connected: AsyncOpenAI,
) -> None:
    searching = NativeTool(FileSearchTool(file_store_ids=["vs_birds"]))
    agent = Agent(served(connected), capabilities=[searching])
    result = await agent.run("What do owls do at night?")
    [said] = [part for part in result.response.parts if isinstance(part, TextPart)]
    assert "owls.txt" in repr(said.citations)
    async with agent.run_stream("What do owls do at night?") as stream:
        await stream.get_output()
    [said] = [part for part in stream.response.parts if isinstance(part, TextPart)]
    assert "owls.txt" in repr(said.citations)


async def test_it_embeds_by_the_model_of_the_documents(connected: AsyncOpenAI) -> None:
    provider = OpenAIProvider(openai_client=connected)
    embedder = Embedder(OpenAIEmbeddingModel("any", provider=provider))
    owls, herons = (await embedder.embed_documents(["Owls hunt.", "Herons fish."])).embeddings
    assert len(owls) > 1
    assert owls != herons
