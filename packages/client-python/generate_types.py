"""Makes ``contract.py`` of what a server says of itself: generate_types.py URL [--check]"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

TARGET = Path(__file__).parent / "src/agent_server_client/contract.py"
HEAD = "# Generated from /openapi.json by generate_types.py; a test compares the two. Do not edit.\n\n"


def generate(url: str) -> str:
    with urllib.request.urlopen(f"{url}/openapi.json") as answer:
        document = json.load(answer)
    # Of paths only the shapes matter, which have names.
    shapes = {"openapi": document["openapi"], "info": document["info"], "paths": {}}
    # By name, so that the order in which the server happens to load them makes no difference.
    shapes["components"] = {"schemas": dict(sorted(document["components"]["schemas"].items()))}
    options = ["--output-model-type", "typing.TypedDict", "--target-python-version", "3.10"]
    more = ["--input-file-type", "openapi", "--disable-timestamp", "--use-union-operator", "--enum-field-as-literal", "all"]
    command = [sys.executable, "-m", "datamodel_code_generator", *options, *more]
    made = subprocess.run(command, input=json.dumps(shapes), capture_output=True, text=True, check=True)
    code = made.stdout.split("from __future__", 1)[1]
    options = "".join(f"\n\n{options_of(code, name)}" for name in ("Query", "Chat"))
    return f"{HEAD}from __future__{code}{options}"


def options_of(code: str, name: str) -> str:
    """The fields of a request as keyword arguments, in Python's spelling, none of them required."""
    shape = re.search(rf"^class {name}Request\(TypedDict\):\n((?:    .*\n)+)", code, re.M)
    assert shape, f"There is no {name}Request"
    fields = re.sub(r"^    (\w+): (?!NotRequired)(.*)$", r"    \1: NotRequired[\2]", shape[1], flags=re.M)
    snake = re.sub(r"^    \w+", lambda field: re.sub("[A-Z]", lambda l: f"_{l[0].lower()}", field[0]), fields, flags=re.M)
    return f"class {name}Options(TypedDict):\n{snake}"


if __name__ == "__main__":
    text = generate(sys.argv[1])
    if "--check" not in sys.argv:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit("contract.py differs from /openapi.json: run generate_types.py")
