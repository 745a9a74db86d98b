"""The command of aider, which speaks chat completions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ANSWER, KEY, QUESTION, Model

FLAGS = [
    "--yes-always",
    "--no-git",
    "--no-pretty",
    "--no-check-update",
    "--no-show-model-warnings",
    "--no-show-release-notes",
    "--analytics-disable",
]


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
def test_it_answers_plain_and_streamed(
    how: str, base_url: str, model: Model, tmp_path: Path
) -> None:
    where = ["--model", "openai/agent", "--openai-api-base", base_url, "--openai-api-key", KEY]
    command = [Path(sys.executable).parent / "aider", *where, *FLAGS, how, "--message", QUESTION]
    # It would otherwise fetch its table of prices.
    env = {**os.environ, "HOME": str(tmp_path), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    ended = subprocess.run(
        command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )
    assert ANSWER in ended.stdout, ended.stdout + ended.stderr
    assert model.requests[-1]["messages"][-1]["role"] == "user"
