"""Semantic Kernel's services for OpenAI."""

from __future__ import annotations

import pytest
from conftest import ANSWER, LIT, QUESTION
from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAITextEmbedding
from semantic_kernel.functions import kernel_function

pytestmark = pytest.mark.anyio


def served(connected: AsyncOpenAI) -> OpenAIChatCompletion:
    return OpenAIChatCompletion(ai_model_id="agent", async_client=connected)


async def test_it_answers_plain_and_streamed(connected: AsyncOpenAI) -> None:
    agent = ChatCompletionAgent(service=served(connected), name="asking")
    assert str(await agent.get_response(QUESTION)) == ANSWER
    parts = [str(part.message) async for part in agent.invoke_stream(QUESTION)]
    assert "".join(parts) == ANSWER


class Lamps:
    def __init__(self) -> None:
        self.switched: list[bool] = []

    @kernel_function(name="lamp", description="Switches the lamp.")
    def lamp(self, on: bool) -> str:
        self.switched.append(on)
        return "on"


async def test_its_agent_runs_its_tools_plain_and_streamed(connected: AsyncOpenAI) -> None:
    lamps = Lamps()
    agent = ChatCompletionAgent(service=served(connected), name="switching", plugins=[lamps])
    assert str(await agent.get_response("Light, please.")) == LIT
    parts = [str(part.message) async for part in agent.invoke_stream("Light, please.")]
    assert "".join(parts) == LIT
    assert lamps.switched == [True, True]


async def test_it_embeds_by_the_model_of_the_documents(connected: AsyncOpenAI) -> None:
    service = OpenAITextEmbedding(ai_model_id="any", async_client=connected)
    owls, herons = await service.generate_embeddings(["Owls hunt.", "Herons fish."])
    assert len(owls) > 1
    assert list(owls) != list(herons)
