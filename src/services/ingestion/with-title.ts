import type { EmbeddedText } from '../embedding/embedded-text.ts'
import type { Passage } from './prepare.ts'

/** Passages as they are embedded. */
export function withTitle(
  title: string | undefined,
  passages: readonly Pick<Passage, 'heading' | 'text'>[],
): EmbeddedText[] {
  return passages.map(({ heading, text }) => ({ title, heading, text }))
}
