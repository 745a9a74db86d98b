"""Reads the files of a folder with markitdown or pymupdf4llm, into <file>.md with <file>.seconds of processor time.
Usage: python peers.py markitdown|pymupdf4llm <folder> <folder for what is read> <suffix>..."""
import pathlib
import sys
import time

peer, source, target, *suffixes = sys.argv[1:]
if peer == "markitdown":
    from markitdown import MarkItDown

    converter = MarkItDown()
    read = lambda path: converter.convert(path).text_content
else:
    import pymupdf4llm

    read = pymupdf4llm.to_markdown

pathlib.Path(target).mkdir(parents=True, exist_ok=True)
for path in sorted(pathlib.Path(source).iterdir()):
    if path.suffix[1:] not in suffixes:
        continue
    start = time.process_time()
    try:
        text = read(str(path))
    except BaseException as error:
        print(f"{path.name}: {error}"[:200], file=sys.stderr)
        continue
    seconds = time.process_time() - start
    pathlib.Path(target, f"{path.name}.md").write_text(text, encoding="utf-8", errors="replace")
    pathlib.Path(target, f"{path.name}.seconds").write_text(str(seconds))
