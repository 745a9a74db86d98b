import { oneLine } from '../extracted.ts'
import { struck, subscript, superscript } from '../marks.ts'
import type { NumberLevel } from '../numbering.ts'
import { readXml } from './xml.ts'

type Mark = (text: string) => string
type ListLevels = Map<number, NumberLevel>

const PARENTS = 20
const FURNITURE = /^style:(header|footer)(?:-left|-first)?$/
/** Fields whose result is another on each page. */
const COUNTED = new Set([
  'text:page-number',
  'text:page-count',
  'text:sheet-name',
  'text:date',
  'text:time',
])

export type OdfStyles = ReturnType<typeof readOdfStyles>

interface Style {
  parent?: string | undefined
  list?: string | undefined
  position?: string | undefined
  display?: string | undefined
  strike?: string | undefined
}

/** The styles of the parts of a file, and what stands above and below its pages. OpenDocument 1.3, part 3, 16. */
export function readOdfStyles(parts: readonly string[]) {
  const styles = new Map<string, Style>()
  const lists = new Map<string, ListLevels>()
  const furniture = new Set<string>()
  for (const part of parts) {
    readStyles(part, styles, lists)
    for (const line of furnitureIn(part)) furniture.add(line)
  }
  const find = <Name extends keyof Style>(name: string | undefined, property: Name) => {
    let at = name
    for (let steps = 0; at !== undefined && steps < PARENTS; steps++) {
      const style = styles.get(at)
      if (style?.[property] !== undefined) return style[property]
      at = style?.parent
    }
    return undefined
  }
  return {
    /** What marks text in this style above or below the line, or struck out. */
    markOf(name: string | undefined): Mark | undefined {
      const position = find(name, 'position') ?? ''
      if (/^(?:super|[1-9]\d*%)/.test(position)) return superscript
      if (/^(?:sub|-)/.test(position)) return subscript
      return (find(name, 'strike') ?? 'none') === 'none' ? undefined : struck
    },
    isHidden: (name: string | undefined) => find(name, 'display') === 'none',
    listOf: (paragraph: string | undefined) => find(paragraph, 'list'),
    levelsOf: (list: string | undefined): ListLevels => lists.get(list ?? '') ?? new Map(),
    /** The numbers of headings. */
    outline: (): ListLevels => lists.get(OUTLINE) ?? new Map(),
    furniture: () => [...furniture],
  }
}

const OUTLINE = 'text:outline-style'

function readStyles(xml: string, styles: Map<string, Style>, lists: Map<string, ListLevels>): void {
  let style: Style = {}
  let levels: ListLevels = new Map()
  const beginnings: Record<string, (attributes: Record<string, string>) => void> = {
    'style:style'(attributes) {
      style = {
        parent: attributes['style:parent-style-name'],
        list: attributes['style:list-style-name'] || undefined,
      }
      styles.set(attributes['style:name'] ?? '', style)
    },
    'style:text-properties'(attributes) {
      style.position ??= attributes['style:text-position']
      style.strike ??= attributes['style:text-line-through-style']
      style.display ??= attributes['text:display']
    },
    'text:list-style'(attributes) {
      levels = new Map()
      lists.set(attributes['style:name'] ?? '', levels)
    },
    [OUTLINE]() {
      levels = new Map()
      lists.set(OUTLINE, levels)
    },
    'text:list-level-style-number': (attributes) => addLevel(levels, attributes),
    'text:outline-level-style': (attributes) => addLevel(levels, attributes),
  }
  readXml(xml, { open: (name, attributes) => beginnings[name]?.(attributes) })
}

function addLevel(levels: ListLevels, attributes: Record<string, string>): void {
  const level = (Number(attributes['text:level']) || 1) - 1
  const type = attributes['style:num-format'] ?? ''
  if (type === '' || level < 0) return
  const shown = Math.min(Number(attributes['text:display-levels']) || 1, level + 1)
  const numbers = Array.from({ length: shown }, (_, at) => `%${level + 2 - shown + at}`).join('.')
  levels.set(level, {
    start: Number(attributes['text:start-value'] ?? 1),
    type: attributes['style:num-letter-sync'] === 'true' ? type + type : type,
    text: `${attributes['style:num-prefix'] ?? ''}${numbers}${attributes['style:num-suffix'] ?? ''}`,
  })
}

function furnitureIn(xml: string): string[] {
  const lines: string[] = []
  const parts = new Set<string>()
  let place: string | undefined
  let counted = 0
  let part = ''
  const endParagraph = () => {
    const line = oneLine(part)
    if (place !== undefined && /[\p{L}\p{N}]/u.test(line)) parts.add(line)
    part = ''
  }
  const endPlace = () => {
    if (parts.size > 0) lines.push(`Page ${place}: ${[...parts].join(' | ')}`)
    parts.clear()
    place = undefined
  }
  readXml(xml, {
    open(name) {
      place ??= FURNITURE.exec(name)?.[1]
      if (COUNTED.has(name)) counted++
      if (BLANKS.has(name)) part += ' '
    },
    text(data) {
      if (place !== undefined && counted === 0) part += data
    },
    close(name) {
      if (COUNTED.has(name)) counted--
      if (name === 'text:p' || name === 'text:h') endParagraph()
      if (FURNITURE.test(name)) endPlace()
    },
  })
  return lines
}

const BLANKS = new Set(['text:s', 'text:tab', 'text:line-break'])
