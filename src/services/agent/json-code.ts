import type { CodeMarks } from './markdown-code.ts'

/**
 * Of JSON, what stands in strings is text; everything else, a list of numbers above all, is code. What
 * follows the one value that JSON is, `after` judges.
 */
export function createJsonCode(after: CodeMarks): CodeMarks {
  let depth = 0
  let isString = false
  let isEscaped = false
  let isOver = false

  return {
    see(character) {
      if (isOver) return after.see(character)
      if (isEscaped) isEscaped = false
      else if (character === '\\') isEscaped = isString
      else if (character === '"') isString = !isString
      else if (!isString) isOver = closes(character)
      return !isString
    },
  }

  function closes(character: string): boolean {
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    else return false
    return depth <= 0
  }
}
