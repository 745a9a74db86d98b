import { type AnswerPart, answerParts } from './answer-parts.ts'
import { noteLabels, noteLetters } from './footnote-syntax.ts'
import { drawFormulas } from './formulas.ts'
import { highlightCode } from './highlighting.ts'
import { redraw, renderMarkdown } from './markdown.ts'

/** What an element shows. */
interface Drawing {
  parts: readonly AnswerPart[]
  /** What of other parts and of the passages it was drawn with. */
  around: string
}

const drawings = new WeakMap<Element, Drawing>()
/** `[name]: address`, which any part may refer to; with a number it is a citation or a note. */
const DEFINITION = /^ {0,3}\[(?!\^|\d{1,3}\])[^\]\n]{1,200}\]:[ \t]*\S+.*$/gm

/** Draws an answer into an element, of which only what is new is read and drawn, as it may be long and grow. */
export function drawAnswer(element: Element, text: string, hits: number | 'awaited'): void {
  const before = drawings.get(element)
  const parts = answerParts(text, before?.parts)
  const labels = parts.flatMap(labelsIn)
  const definitions = parts.flatMap(definitionsIn).join('\n')
  const around = JSON.stringify([hits, labels, definitions])
  const notes = noteLetters(labels)
  for (const [place, part] of parts.entries()) {
    const known = before?.parts[place]
    const isSame = known?.text === part.text && known.above.join() === part.above.join()
    // A part without a bracket refers to nothing.
    if (isSame && (before?.around === around || !part.text.includes('['))) continue
    const source = definitions === '' ? part.text : `${definitions}\n\n${part.text}`
    const fragment = renderMarkdown(source, hits, { above: part.above, notes })
    drawFormulas(fragment)
    highlightCode(fragment)
    redraw(element.children[place] ?? newPart(element), fragment)
  }
  for (const left of [...element.children].slice(parts.length)) left.remove()
  drawings.set(element, { parts, around })
}

function newPart(answer: Element): Element {
  const part = document.createElement('div')
  part.className = 'answer-part'
  answer.append(part)
  return part
}

/** Cached for parts that stay the same while others grow. */
const labelsIn = cached((part) => noteLabels(part.text))
const definitionsIn = cached((part) => part.text.match(DEFINITION) ?? [])

function cached(read: (part: AnswerPart) => readonly string[]) {
  const results = new WeakMap<AnswerPart, readonly string[]>()
  return (part: AnswerPart): readonly string[] => {
    const result = results.get(part) ?? read(part)
    results.set(part, result)
    return result
  }
}

/** Length of an answer that is drawn at first, in UTF-16 code units; the rest is drawn on request. */
export const MAX_DRAWN = 100_000

/** Ends with a line, so that no block is cut where it need not be. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text
  const end = text.lastIndexOf('\n', length)
  return text.slice(0, end > 0 ? end : length)
}
