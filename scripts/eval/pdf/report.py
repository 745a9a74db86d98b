"""Makes sample.pdf of the sample in a JSON file (samples.ts), with ReportLab."""

import json
import sys

from reportlab.lib import colors, pagesizes, styles
from reportlab.platypus import (
    BalancedColumns,
    BaseDocTemplate,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
)

WIDTH, HEIGHT = pagesizes.A4
MARGIN = 60
GAP = 16

plain = styles.ParagraphStyle("plain", fontName="Helvetica", fontSize=10, leading=13, spaceAfter=8)
STYLES = {
    "title": styles.ParagraphStyle("title", plain, fontName="Helvetica-Bold", fontSize=20, leading=26),
    "heading": styles.ParagraphStyle("heading", plain, fontName="Helvetica-Bold", fontSize=14, leading=20),
    "text": styles.ParagraphStyle("text", plain, alignment=4),
    "note": styles.ParagraphStyle("note", plain, fontSize=8, leading=10),
}
cell = styles.ParagraphStyle("cell", plain, fontSize=9, leading=11, spaceAfter=0)


def table(block, width):
    rows = [[Paragraph(text, cell) if block.get("hasProse") else text for text in row] for row in block["rows"]]
    look = [
        ("FONT", (0, 0), (-1, -1), "Helvetica", 9),
        ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 9),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
    ]
    if block["isRuled"]:
        look.append(("GRID", (0, 0), (-1, -1), 0.5, colors.grey))
    else:
        look += [
            ("BACKGROUND", (0, 0), (-1, 0), colors.lightgrey),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, colors.whitesmoke]),
        ]
    widths = [width * share for share in (0.2, 0.6, 0.2)] if block.get("hasProse") else None
    return Table(rows, widths, repeatRows=1, style=look, hAlign="LEFT", spaceAfter=12)


def flowables(blocks, width):
    """The blocks, and the footnotes after them."""
    notes = []
    for block in blocks:
        kind = block["kind"]
        if kind == "table":
            yield table(block, width)
        elif kind == "columns":
            yield BalancedColumns([Paragraph(text, STYLES["text"]) for text in block["texts"]], innerPadding=GAP)
        else:
            text = block["text"]
            if block.get("footnote"):
                notes.append(block["footnote"])
                text += f"<super size='7'>{len(notes)}</super>"
            yield Paragraph(text, STYLES[kind])
    if notes:
        yield Spacer(1, 40)
    for number, note in enumerate(notes, 1):
        yield Paragraph(f"<super size='6'>{number}</super> {note}", STYLES["note"])


def main(path):
    with open(path, encoding="utf-8") as file:
        sample = json.load(file)
    width, height = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    header = sample.get("header")

    def draw_header(canvas, _):
        if header:
            canvas.setFont("Helvetica", 9)
            canvas.drawString(MARGIN, HEIGHT - 40, header)

    def template(name, frames):
        return PageTemplate(id=name, frames=frames, onPage=draw_header)

    def frame(left, bottom, width, height):
        return Frame(left, bottom, width, height, 0, 0, 0, 0, id=f"{left:.0f}")

    column, top = (width - GAP) / 2, 50

    def columns(height):
        return [frame(MARGIN + n * (column + GAP), MARGIN, column, height) for n in (0, 1)]

    one = template("one", [frame(MARGIN, MARGIN, width, height)])
    first = template("first", [frame(MARGIN, HEIGHT - MARGIN - top, width, top), *columns(height - top)])
    later = template("later", columns(height))
    is_columned = sample.get("isTwoColumned")
    templates = [first, later] if is_columned else [one]
    blocks = list(flowables(sample["blocks"], column if is_columned else width))
    if is_columned:
        blocks.insert(0, NextPageTemplate("later"))
        blocks.insert(2, FrameBreak)
    document = BaseDocTemplate(path.replace(".json", ".pdf"), pagesize=pagesizes.A4, pageTemplates=templates, invariant=1)
    document.build(blocks)


main(sys.argv[1])
