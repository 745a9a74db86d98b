"""Makes the synchronous client of the asynchronous one, as they differ in their words only: [--check]"""

from __future__ import annotations

import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "src/agent_server_client"
WORDS = [
    (r"async (def|with|for) ", r"\1 "),
    (r"\bawait ", ""),
    (r"Awaitable\[(\w+)\]", r"\1"),
    (r"\bAwaitable, ", ""),
    (r"AsyncGenerator\[(\w+), None\]", r"Generator[\1, None, None]"),
    (r"\bAsyncGenerator\b", "Generator"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"asynccontextmanager", "contextmanager"),
    (r"asyncio\.sleep", "sleep"),
    (r"^import asyncio\n", "from time import sleep\n"),
    (r"^from collections.abc import Awaitable\n", ""),
    (r"__a(iter|enter|exit)__", r"__\1__"),
    (r"\ba(close|read|iter_lines|iter_bytes)\b", r"\1"),
    (r"\bAsync(Client|[A-Z]\w+)", r"\1"),
    (r"\basynchronous_", "synchronous_"),
    (r"\A\"\"\".*?\"\"\"", '"""Made by make_synchronous.py of the asynchronous twin: change that."""'),
]


def make(source: Path) -> str:
    text = source.read_text()
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text


if __name__ == "__main__":
    for source in sorted(FOLDER.glob("asynchronous*.py")):
        target = source.with_name(source.name.removeprefix("a"))
        if "--check" not in sys.argv:
            target.write_text(make(source))
        elif target.read_text() != make(source):
            sys.exit(f"{target.name} differs from {source.name}: run make_synchronous.py")
