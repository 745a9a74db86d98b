"""The asynchronous client against the real server; what it does is what the synchronous one does."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from agent_server_client import AsyncAgentServer, NotFoundError, StreamInterruptedError
from conftest import KEY, Proxy, RunningServer

PACKAGE = Path(__file__).parents[1]


def test_the_asynchronous_client_does_the_same(server: RunningServer) -> None:
    async def use() -> None:
        async with AsyncAgentServer(server.url, KEY) as client:
            await client.documents.replace("owls", {"text": "Owls hunt at night."}, wait=20)
            made = await client.documents.upload(b"Crows think.", name="crows.txt", wait=20)
            assert b"".join([part async for part in client.documents.file(made["id"])]) == b"Crows think."
            assert "owls" in [each["id"] async for each in client.documents.list(limit=1)]
            stream = client.chat({"messages": [{"role": "user", "content": "When do owls hunt?"}]})
            types = [event["type"] async for event in stream]
            assert types[-1] == "done"
            async with client.chat({"messages": [{"role": "user", "content": "When do owls hunt?"}]}) as left:
                async for _ in left:
                    break
            with pytest.raises(StreamInterruptedError, match="it was left"):
                await left.result()
            first = await client.documents.list(limit=1)
            assert len(first) == 1 and first.next_cursor
            told = await client.with_response(client.documents.list, limit=1)
            assert (told.status, told.data) == (200, first)
            answers = await asyncio.gather(*(client.query({"query": "owls"}) for _ in range(8)))
            assert all(answer["hits"] for answer in answers)
            try:
                await client.documents.get("none")
            except NotFoundError as error:
                assert error.code == "document_not_found"

    asyncio.run(use())


def test_it_tries_again_and_makes_nothing_twice(proxy: Proxy) -> None:
    async def use() -> None:
        async with AsyncAgentServer(proxy.url, KEY) as client:
            proxy.faults = ["lose"]
            await client.documents.create({"text": "Kites soar."})

    asyncio.run(use())
    keys = [key for _, _, key in proxy.requests]
    assert len(keys) == 2 and len(set(keys)) == 1


def run(script: str, *parameters: str) -> None:
    subprocess.run([sys.executable, PACKAGE / script, *parameters, "--check"], check=True)


def test_the_synchronous_client_is_made_of_it() -> None:
    run("make_synchronous.py")


def test_the_types_are_those_of_the_contract(server: RunningServer) -> None:
    run("generate_types.py", server.url)
