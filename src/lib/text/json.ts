/** The parsed value; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A place in a text: lines and columns from 1, as editors count them. */
interface TextPlace {
  line: number
  column: number
}

/** The place of the first syntax error in a text that is not JSON: engines name it only in some messages. */
export function placeOfJsonMistake(text: string): TextPlace {
  // Binary search: a prefix is good if only its end is missing; beyond the error, none is.
  let [good, bad] = [0, text.length + 1]
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (endsTooEarly(text.slice(0, middle))) good = middle
    else bad = middle
  }
  const lines = text.slice(0, good).split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}

function endsTooEarly(start: string): boolean {
  try {
    JSON.parse(start)
    return true
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const [, position] = /at position (\d+)/.exec(message) ?? []
    return position === undefined
      ? /end of JSON/.test(message)
      : Number(position) >= start.length || /^Unterminated/.test(message)
  }
}

/** The engine's description of the error, without the text and the place. */
export function reasonOfJsonMistake(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message
    .replace(/(?: in JSON)? at position .*$|, (?:\.\.\.)?".*$/s, '')
    .replace(/ in JSON$/, '')
}
