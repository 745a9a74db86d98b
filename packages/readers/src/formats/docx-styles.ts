import { createCounter, type NumberLevel } from '../numbering.ts'
import { readXml } from './xml.ts'

// ECMA-376, part 1, 17.7 (styles) and 17.9 (numbering).

/** Styles that are based on each other are followed so far. */
const MAX_CHAIN = 20
const MAX_HEADING = 6
/** The level of text that is in no outline. */
const BODY_TEXT = 9

interface Style {
  basedOn?: string
  name?: string
  outline?: number
  numberId?: string
  level?: number
  verticalAlign?: string
  isHidden?: boolean
}

export type WordStyles = ReturnType<typeof readStyles>

/** The styles of `styles.xml`, each with what it takes over from the one that it is based on. */
export function readStyles(xml: string) {
  const styles = new Map<string, Style>()
  let style: Style = {}
  readXml(xml, {
    open(name, attributes) {
      const value = attributes['w:val'] ?? ''
      if (name === 'w:style') {
        style = {}
        styles.set(attributes['w:styleId'] ?? '', style)
      } else READ[name]?.(style, value)
    },
  })
  /** A style and those that it is based on, one after the other. */
  const chainOf = (id: string | undefined): Style[] => {
    const chain: Style[] = []
    for (let at = id; at !== undefined && chain.length < MAX_CHAIN; at = chain.at(-1)?.basedOn) {
      const next = styles.get(at)
      if (!next) break
      chain.push(next)
    }
    return chain
  }
  const find = <Name extends keyof Style>(id: string | undefined, name: Name) =>
    chainOf(id).find((one) => one[name] !== undefined)?.[name]
  const headingOf = (id: string): number | undefined => {
    for (const { name = '', outline } of chainOf(id)) {
      const [, digit] = /^heading (\d)$/i.exec(name) ?? []
      if (digit !== undefined) return Number(digit)
      if (outline !== undefined) return headingAt(outline)
    }
    return undefined
  }
  return {
    find,
    /** The level of a heading by the style of a paragraph. */
    headings: (): [id: string, level: number][] =>
      [...styles.keys()].flatMap((id) => {
        const level = headingOf(id)
        return level === undefined ? [] : [[id, level] as [string, number]]
      }),
  }
}

const READ: Record<string, (style: Style, value: string) => void> = {
  'w:name': (style, value) => (style.name ??= value),
  'w:basedOn': (style, value) => (style.basedOn = value),
  'w:outlineLvl': (style, value) => (style.outline = Number(value)),
  'w:numId': (style, value) => (style.numberId = value),
  'w:ilvl': (style, value) => (style.level = Number(value)),
  'w:vertAlign': (style, value) => (style.verticalAlign = value),
  'w:vanish': (style, value) => (style.isHidden = isOn(value)),
}

/** Whether a property that needs no value is on. */
export const isOn = (value: string) => !['0', 'false', 'off'].includes(value)

/** The level of a heading by that of the outline, which counts from 0. */
export function headingAt(outline: number): number | undefined {
  return outline >= 0 && outline < BODY_TEXT ? Math.min(outline + 1, MAX_HEADING) : undefined
}

interface WordLevel extends NumberLevel {
  /** The style of the paragraphs that are on this level; '' if none is. */
  style: string
  isBullet: boolean
}

interface AbstractNumber {
  levels: Map<number, WordLevel>
  /** The style of a list that has its levels. */
  link: string
}

interface NumberedList {
  abstract: string
  overrides: Map<number, number>
}

const TYPES: Record<string, string> = {
  decimal: '1',
  decimalZero: '01',
  lowerLetter: 'aa',
  upperLetter: 'AA',
  lowerRoman: 'i',
  upperRoman: 'I',
  none: '',
}

/** Numbers the paragraphs of a document by `numbering.xml`, in their order. */
export function createWordNumbering(xml: string, styles: WordStyles) {
  const { abstracts, lists } = readNumbering(xml)
  const counters = new Map<string, ReturnType<typeof createCounter>>()
  const started = new Set<string>()
  const byStyle = new Map<string, number>()
  for (const { levels } of abstracts.values()) {
    for (const [level, { style }] of levels) if (style !== '') byStyle.set(style, level)
  }
  const listOf = (abstract: string): [id: string, levels: AbstractNumber['levels']] => {
    const own = abstracts.get(abstract)
    const linked = own?.link ? styles.find(own.link, 'numberId') : undefined
    const other = linked === undefined ? undefined : lists.get(linked)?.abstract
    return other === undefined
      ? [abstract, own?.levels ?? new Map()]
      : [other, abstracts.get(other)?.levels ?? new Map()]
  }
  const counterOf = (abstract: string) => {
    const counter = counters.get(abstract) ?? createCounter()
    counters.set(abstract, counter)
    return counter
  }

  /** The label of the next paragraph; '' if it has none. */
  return (style: string | undefined, numberId: string | undefined, level?: number): string => {
    const id = numberId ?? styles.find(style, 'numberId') ?? ''
    const list = lists.get(id)
    const at = level ?? byStyle.get(style ?? '') ?? styles.find(style, 'level') ?? 0
    const [abstract, levels] = listOf(list?.abstract ?? '')
    if (!list || levels.get(at)?.isBullet !== false) return ''
    const counter = counterOf(abstract)
    const start = list.overrides.get(at)
    if (start !== undefined && !started.has(`${id} ${at}`)) counter.startAt(at, start)
    started.add(`${id} ${at}`)
    return counter.next(levels, at)
  }
}

function readNumbering(xml: string) {
  const abstracts = new Map<string, AbstractNumber>()
  const lists = new Map<string, NumberedList>()
  let abstract: AbstractNumber | undefined
  let list: NumberedList | undefined
  let override = 0
  let level = newLevel()
  const beginnings: Record<string, (attributes: Record<string, string>) => void> = {
    'w:abstractNum'(attributes) {
      abstract = { levels: new Map(), link: '' }
      abstracts.set(attributes['w:abstractNumId'] ?? '', abstract)
    },
    'w:num'(attributes) {
      abstract = undefined
      list = { abstract: '', overrides: new Map() }
      lists.set(attributes['w:numId'] ?? '', list)
    },
    'w:lvl'(attributes) {
      level = newLevel()
      abstract?.levels.set(Number(attributes['w:ilvl'] ?? 0), level)
    },
    'w:lvlOverride': (attributes) => (override = Number(attributes['w:ilvl'] ?? 0)),
  }
  const values: Record<string, (value: string) => void> = {
    'w:numStyleLink': (value) => Object.assign(abstract ?? {}, { link: value }),
    'w:abstractNumId': (value) => Object.assign(list ?? {}, { abstract: value }),
    'w:startOverride': (value) => list?.overrides.set(override, Number(value)),
    'w:start': (value) => (level.start = Number(value)),
    'w:lvlText': (value) => (level.text = value),
    'w:pStyle': (value) => (level.style = value),
    'w:isLgl': (value) => (level.isLegal = isOn(value)),
    'w:lvlRestart': (value) => (level.goesOn = value === '0'),
    'w:numFmt'(value) {
      level.isBullet = value === 'bullet'
      level.type = TYPES[value] ?? '1'
    },
  }
  readXml(xml, {
    open(name, attributes) {
      beginnings[name]?.(attributes)
      values[name]?.(attributes['w:val'] ?? '')
    },
  })
  return { abstracts, lists }
}

const newLevel = (): WordLevel => ({ start: 1, type: '1', text: '', style: '', isBullet: false })
