"""Makes the synchronous client of the asynchronous one, as they differ in their words only: [--check]"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "src/agent_server_client"
WORDS = [
    (r"    def __await__.*\n.*\n\n", ""),
    (r"\n\n    Awaited itself, it is its first page\.\n    \"\"\"", '"""'),
    (r", Generator$", ""),
    (r"async (def|with|for) ", r"\1 "),
    (r"\bawait ", ""),
    (r"Awaitable\[(\w+)\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"AsyncGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"asynccontextmanager", "contextmanager"),
    (r"asyncio\.sleep", "sleep"),
    (r"^import asyncio\n", ""),
    (r"^from collections.abc import Awaitable\n", ""),
    (r"__a(iter|enter|exit)__", r"__\1__"),
    (r"\ba(close|read|iter_lines|iter_bytes)\b", r"\1"),
    (r"\bAsync(Client|[A-Z]\w+)", r"\1"),
    (r"\basynchronous_", "synchronous_"),
    (r"\A\"\"\".*?\"\"\"", '"""Made by make_synchronous.py of the asynchronous twin: change that."""'),
]


def make(source: Path) -> str:
    text = source.read_text()
    waits = "import asyncio\n" in text
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    if waits:
        text, has_clock = re.subn("^(from time import .*)$", r"\1, sleep", text, flags=re.MULTILINE)
        if not has_clock:
            text = text.replace("from typing ", "from time import sleep\nfrom typing ", 1)
    return re.sub(r"^(from \S+ import )(.+)$", sort_names, text, flags=re.MULTILINE)


def sort_names(line: re.Match[str]) -> str:
    if line[2] == "(":
        return line[0]
    # Constants first, then classes, then functions.
    order = lambda name: (not name.isupper(), name[0].islower(), name)
    return line[1] + ", ".join(sorted(line[2].split(", "), key=order))


if __name__ == "__main__":
    for source in sorted(FOLDER.glob("asynchronous*.py")):
        target = source.with_name(source.name.removeprefix("a"))
        if "--check" not in sys.argv:
            target.write_text(make(source))
        elif target.read_text() != make(source):
            sys.exit(f"{target.name} differs from {source.name}: run make_synchronous.py")
