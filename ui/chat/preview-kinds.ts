/** In UTF-16 code units; what is longer stays code. */
const MAX_PAGE = 200_000
/** Length of a diagram, which is laid out in more than linear time. */
const MAX_DIAGRAM = 10_000

export const isPage = (language: string, code: string) =>
  /^x?html?$/i.test(language) && code.length <= MAX_PAGE && /<[a-z!]/i.test(code)

export const isDiagram = (language: string, code: string) =>
  /^mermaid$/i.test(language) && code.length <= MAX_DIAGRAM && code.trim() !== ''

/** Mermaid walks through all days of a task where some are excluded: durations have at most five digits there. */
export const isEndless = (code: string) =>
  /\bgantt\b/i.test(code) &&
  /\bexcludes\b/i.test(code) &&
  /\d{6}(?:\.\d+)?(?:[Mdhmswy]|ms)\b/.test(code)
