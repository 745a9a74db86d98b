import { createCounter } from '../numbering.ts'
import type { OdfStyles } from './opendocument-styles.ts'

type Counter = ReturnType<typeof createCounter>

/** Numbers the items of lists and the headings of a text, in their order. */
export function createOdfNumbers(styles: OdfStyles) {
  const open: { style: string | undefined; counter: Counter }[] = []
  const byId = new Map<string, Counter>()
  const byStyle = new Map<string, Counter>()
  const headings = createCounter()
  /** Whether the paragraph that comes next begins an item. */
  let isItem = false

  const counterOf = (style: string, attributes: Record<string, string>): Counter => {
    const goesOn = attributes['text:continue-numbering'] === 'true'
    const list = byId.get(attributes['text:continue-list'] ?? '')
    return list ?? (goesOn ? byStyle.get(style) : undefined) ?? createCounter()
  }

  return {
    openList(attributes: Record<string, string>): void {
      const above = open.at(-1)
      const style = attributes['text:style-name'] ?? above?.style
      const counter = above?.counter ?? counterOf(style ?? '', attributes)
      open.push({ style, counter })
      byStyle.set(style ?? '', counter)
      const id = attributes['xml:id']
      if (id !== undefined) byId.set(id, counter)
    },
    closeList: () => void open.pop(),
    openItem(attributes: Record<string, string>): void {
      isItem = true
      const start = Number(attributes['text:start-value'] ?? Number.NaN)
      if (!Number.isNaN(start)) open.at(-1)?.counter.startAt(open.length - 1, start)
    },
    /** The label of a paragraph, which may have a list by its style; '' if it has none. */
    ofParagraph(style: string | undefined): string {
      const list = open.at(-1)
      if (!list || !isItem) return ''
      isItem = false
      const levels = styles.levelsOf(list.style ?? styles.listOf(style))
      return list.counter.next(levels, open.length - 1)
    },
    /** The label of a heading; its level counts from 0. */
    ofHeading(level: number): string {
      isItem = false
      return headings.next(styles.outline(), level)
    },
  }
}
