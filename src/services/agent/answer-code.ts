import { createJsonCode } from './json-code.ts'
import { type CodeMarks, createMarkdownCode } from './markdown-code.ts'

/** Marks of code in an answer: JSON where that was asked for, or where it begins like an object; Markdown otherwise. */
export function createAnswerCode(isJsonAsked: boolean): CodeMarks {
  const markdown = createMarkdownCode()
  let code: CodeMarks | undefined

  return {
    see(character) {
      if (!code && character.trim() === '') return false
      code ??= isJsonAsked || character === '{' ? createJsonCode(markdown) : markdown
      return code.see(character)
    },
  }
}
