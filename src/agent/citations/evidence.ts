import type { TermsOf } from './attribution.ts'

/** Words that share a smaller part of a statement's terms say nothing of it. */
const MIN_SHARE = 0.25

/** Texts are compared without what a model changes as it copies: case, white space, Markdown, quotation marks. */
const normalised = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[*_`"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** The dots that stand for what a model left out. */
const GAP = /\s*(?:\u2026|\.{3})\s*/

const partsOf = (evidence: string) => evidence.split(GAP).filter((part) => normalised(part) !== '')

/** What of a model's evidence stands in a text; empty if nothing does. */
export function quotedFrom(evidence: string, text: string): string {
  const within = normalised(text)
  const parts = partsOf(evidence).filter((part) => within.includes(normalised(part)))
  return parts.join(' \u2026 ')
}

/** Whether all of a model's evidence stands in one of the texts or another. */
export function isQuoted(evidence: string, texts: readonly string[]): boolean {
  const parts = partsOf(evidence)
  const isFound = (part: string) => texts.some((text) => quotedFrom(part, text) !== '')
  return parts.length > 0 && parts.every(isFound)
}

/** The same, if it is about a statement by its own words. */
export function bearsOn(
  evidence: string,
  statement: string,
  texts: readonly string[],
  termsOf: TermsOf,
): boolean {
  const known = new Set(termsOf(evidence))
  const terms = [...new Set(termsOf(statement))]
  const shared = terms.filter((term) => known.has(term))
  return shared.length >= Math.max(1, terms.length * MIN_SHARE) && isQuoted(evidence, texts)
}
