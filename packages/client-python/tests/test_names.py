"""The client has what the JavaScript client has, under the same names as Python spells them."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from agent_server_client import AgentServer, AsyncAgentServer
from conftest import KEY, NODE

SCRIPT = Path(__file__).parent / "javascript-methods.js"
# What JavaScript says in each call, or with the promise that a call is.
BESIDE = {"with_options", "with_response"}


def spelling(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def methods(part: Any, prefix: str = "") -> dict[str, set[str]]:
    """Each method below a part of the client, with the names of its keyword arguments."""
    found = {}
    for name, method in inspect.getmembers(type(part), inspect.isroutine):
        if not name.startswith("_"):
            parameters = inspect.signature(method).parameters.values()
            keywords = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
            found[prefix + name.rstrip("_")] = keywords
    for name, inner in vars(part).items():
        if not name.startswith("_") and not isinstance(inner, str):
            found.update(methods(inner, f"{prefix}{name}."))
    return found


@cache
def names_in_javascript() -> dict[str, set[str]]:
    printed = subprocess.run([NODE, SCRIPT], capture_output=True, text=True, check=True).stdout
    return {spelling(name): {*map(spelling, options)} for name, options in json.loads(printed).items()}


@pytest.mark.parametrize(("kind", "end"), [(AgentServer, "close"), (AsyncAgentServer, "aclose")])
def test_it_has_the_methods_and_options_of_the_javascript_client(kind: Any, end: str) -> None:
    own = {name: options for name, options in methods(kind("http://x", KEY)).items() if name not in {*BESIDE, end}}
    assert len(own) > 60
    assert own == names_in_javascript()
