import { Tokenizer } from 'marked'

/** Nobody writes so many levels; the parser, which calls itself for each, has room for some thousands. */
const MAX_LEVELS = 50

/** Leaves what is nested deeper as the text that it is written in. */
export function boundedNesting(): Tokenizer {
  let levels = 0
  const within = <Token>(read: () => Token): Token | undefined => {
    if (levels >= MAX_LEVELS) return undefined
    levels++
    try {
      return read()
    } finally {
      levels--
    }
  }

  return new (class extends Tokenizer {
    override blockquote(text: string) {
      return within(() => super.blockquote(text))
    }
    override list(text: string) {
      return within(() => super.list(text))
    }
    override emStrong(...input: Parameters<Tokenizer['emStrong']>) {
      return within(() => super.emStrong(...input))
    }
    override del(...input: Parameters<Tokenizer['del']>) {
      return within(() => super.del(...input))
    }
    override link(text: string) {
      return within(() => super.link(text))
    }
  })()
}
