"""Sorts events by date and reports overlaps and gaps.

Reads JSON from standard input: [{"date": "2024-05", "event": "...", "source": 3}, ...]
Dates: YYYY, YYYY-MM, YYYY-MM-DD, a range A/B, each with ~ before it where it was
calculated; ? where it is not known. Writes a Markdown table.
"""

import calendar
import json
import sys
from datetime import date

LARGEST_GAP_SHOWN = 3


def first_day(text):
    parts = [int(part) for part in text.split("-")]
    return date(*(parts + [1, 1])[:3])


def last_day(text):
    parts = [int(part) for part in text.split("-")]
    if len(parts) == 1:
        return date(parts[0], 12, 31)
    if len(parts) == 2:
        return date(parts[0], parts[1], calendar.monthrange(*parts)[1])
    return date(*parts)


def span(text):
    plain = text.replace("~", "").strip()
    if "?" in plain or not plain:
        return None
    begin, _, end = plain.partition("/")
    return first_day(begin), last_day(end or begin)


def main():
    events = json.load(sys.stdin)
    dated, undated = [], []
    for event in events:
        try:
            found = span(str(event["date"]))
        except ValueError as error:
            sys.exit(f"Not a date: {event['date']!r} ({error})")
        (dated if found else undated).append((found, event))
    dated.sort(key=lambda pair: pair[0])

    print("| date | event | source |\n|---|---|---|")
    for _, event in dated + undated:
        print(f"| {event['date']} | {event['event']} | [{event.get('source', '?')}] |")

    gaps = sorted(
        ((after[0] - before[1]).days, a["event"], b["event"])
        for (before, a), (after, b) in zip(dated, dated[1:])
    )
    for days, earlier, later in gaps:
        if days < 0:
            print(f"\nOverlap: {earlier} / {later}")
    for days, earlier, later in gaps[-LARGEST_GAP_SHOWN:]:
        if days > 0:
            print(f"\nGap of {days} days between: {earlier} / {later}")


main()
