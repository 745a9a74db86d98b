"""LlamaIndex with its models for OpenAI and what is like it."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import ANSWER, KEY, LIT, QUESTION
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses

MODELS = pytest.mark.parametrize(
    "kind", [OpenAILike, OpenAILikeResponses], ids=["chat-completions", "responses"]
)


def at(kind: type, base_url: str, **more: Any) -> Any:
    able = {"is_chat_model": True, "is_function_calling_model": True, "max_retries": 0}
    return kind(model="agent", api_base=base_url, api_key=KEY, **able, **more)


@MODELS
def test_it_answers_plain_and_streamed(kind: type, base_url: str) -> None:
    messages = [ChatMessage(role="user", content=QUESTION)]
    assert at(kind, base_url).chat(messages).message.content == ANSWER
    parts = [part.delta for part in at(kind, base_url).stream_chat(messages)]
    assert "".join(part or "" for part in parts) == ANSWER


def test_it_completes_a_text_by_default(base_url: str) -> None:
    llm = OpenAILike(model="agent", api_base=base_url, api_key=KEY, max_retries=0)
    assert llm.complete(QUESTION).text == ANSWER
    parts = [part.delta for part in llm.stream_complete(QUESTION)]
    assert "".join(part or "" for part in parts) == ANSWER
    assert llm.chat([ChatMessage(role="user", content=QUESTION)]).message.content == ANSWER


@MODELS
@pytest.mark.anyio
async def test_its_agent_runs_its_tools(kind: type, base_url: str) -> None:
    switched: list[bool] = []

    def lamp(on: bool) -> str:
        """Switches the lamp."""
        switched.append(on)
        return "on"

    agent = FunctionAgent(tools=[lamp], llm=at(kind, base_url))
    assert str(await agent.run("Light, please.")) == LIT
    assert switched == [True]


def test_it_reads_what_an_answer_cites_of_the_store_that_its_file_search_names(
    base_url: str,
) -> None:
    search = {"type": "file_search", "vector_store_ids": ["vs_birds"]}
    llm = at(OpenAILikeResponses, base_url, built_in_tools=[search])
    said = llm.chat([ChatMessage(role="user", content="What do owls do at night?")])
    assert "owls.txt" in repr(said.additional_kwargs)


def test_it_embeds_by_the_model_of_the_documents(base_url: str) -> None:
    embed = OpenAILikeEmbedding(model_name="any", api_base=base_url, api_key=KEY, max_retries=0)
    owls, herons = embed.get_text_embedding_batch(["Owls hunt.", "Herons fish."])
    assert len(owls) > 1
    assert owls != herons
