/** What is being named in a question: a document or a collection after `#`, a skill after `/`. */
export interface Mention {
  sign: '#' | '/'
  words: string
  /** Where its sign stands, in UTF-16 code units; it ends at the caret. */
  start: number
}

/** Longer ones are no names. */
const NAME = /(?:^|\s)#([^\s#][^\n#]{0,60})?$/
/** A skill is named at the beginning of a question, so that no path is taken for one. */
const SKILL = /^\s*\/([\w-]{0,64})$/

/** What is being named before the caret. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const before = text.slice(0, caret)
  const skill = SKILL.exec(before)?.[1]
  if (skill !== undefined) return { sign: '/', words: skill, start: caret - skill.length - 1 }
  const match = NAME.exec(before)
  if (!match) return undefined
  const [, words = ''] = match
  return { sign: '#', words, start: caret - words.length - 1 }
}

/** The text with what was chosen in place of what was typed of it, and where the caret is then. */
export function withMention(text: string, { start, words }: Mention, chosen: string) {
  const after = text.slice(start + 1 + words.length)
  const before = text.slice(0, start)
  const inserted = chosen === '' || /^\s/.test(after) ? chosen : `${chosen} `
  return { text: before + inserted + after, caret: start + inserted.length }
}
