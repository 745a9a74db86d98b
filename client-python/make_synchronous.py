"""Makes ``synchronous.py`` of ``asynchronous.py``, as the two differ in their words only: [--check]"""

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
    (r"^import asyncio\n", ""),
    (r"import monotonic", "import monotonic, sleep"),
    (r"__a(iter|enter|exit)__", r"__\1__"),
    (r"\ba(close|read|iter_lines|iter_bytes)\b", r"\1"),
    (r"\bAsync(Client|[A-Z]\w+)", r"\1"),
    (r"^\"\"\".*?\"\"\"", '"""The synchronous client, made by make_synchronous.py: change asynchronous.py."""'),
]


def make() -> str:
    text = (FOLDER / "asynchronous.py").read_text()
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text


if __name__ == "__main__":
    target = FOLDER / "synchronous.py"
    if "--check" not in sys.argv:
        target.write_text(make())
    elif target.read_text() != make():
        sys.exit("synchronous.py differs from asynchronous.py: run make_synchronous.py")
