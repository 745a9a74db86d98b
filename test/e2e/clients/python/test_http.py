"""Programs that know HTTP alone."""

from __future__ import annotations

import httpx
from conftest import ANSWER, KEY, QUESTION


def test_a_completion_that_leaves_open_whether_to_stream_is_json(base_url: str) -> None:
    with httpx.Client(base_url=base_url, headers={"authorization": f"Bearer {KEY}"}) as client:
        asked = {"messages": [{"role": "user", "content": QUESTION}]}
        answer = client.post("/chat/completions", json=asked).json()
        assert answer["choices"][0]["message"]["content"] == ANSWER
        [said] = client.post("/responses", json={"input": QUESTION}).json()["output"]
        assert said["content"][0]["text"] == ANSWER
