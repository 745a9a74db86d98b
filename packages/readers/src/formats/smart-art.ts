import { oneLine } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { pathsOf } from './ooxml.ts'
import { readXml } from './xml.ts'

const MAX_POINTS = 2_000
/** UTF-16 code units of a point. */
const MAX_TEXT = 500
/** Levels that a line names. */
const MAX_LEVELS = 10
/** Points that only place or connect others. */
const UNSHOWN = new Set(['doc', 'pres', 'parTrans', 'sibTrans'])

/** The texts of the SmartArt that a part of an Office file refers to, by relationship ID. */
export async function smartArtOf(zip: ZipArchive, part: string): Promise<Map<string, string[]>> {
  const lines = new Map<string, string[]>()
  for (const [id, path] of await pathsOf(zip, part, 'diagramData')) {
    lines.set(id, readSmartArt(await zip.readText(path)))
  }
  return lines
}

/** A line for each point that has none below it, after those above it: `Board > Finance > Audit`. */
function readSmartArt(xml: string): string[] {
  const { texts, below } = parseModel(xml)
  const lines: string[] = []
  const visited = new Set<string>()
  const add = (id: string, above: readonly string[]) => {
    if (visited.has(id)) return
    visited.add(id)
    const text = oneLine(texts.get(id) ?? '')
    const path = text ? [...above, text].slice(-MAX_LEVELS) : above
    const before = lines.length
    for (const { to } of below.get(id) ?? []) add(to, path)
    if (text && lines.length === before) lines.push(path.join(' > '))
  }
  const inner = new Set([...below.values()].flatMap((all) => all.map(({ to }) => to)))
  for (const id of below.keys()) if (!inner.has(id)) add(id, [])
  for (const id of texts.keys()) add(id, [])
  return lines
}

interface Connection {
  to: string
  order: number
}

/** The points of a diagram and what is below each, in order: ECMA-376, part 1, 21.4.3. */
function parseModel(xml: string) {
  const texts = new Map<string, string>()
  const below = new Map<string, Connection[]>()
  let point: string | undefined
  let isText = false

  const add = (text: string) => {
    if (point !== undefined) texts.set(point, `${texts.get(point) ?? ''}${text}`.slice(0, MAX_TEXT))
  }
  const openPoint = ({ modelId = '', type = '' }: Record<string, string>) => {
    point = UNSHOWN.has(type) || texts.size >= MAX_POINTS ? undefined : modelId
    add('')
  }
  const connect = ({ type = 'parOf', srcId = '', destId = '', srcOrd }: Record<string, string>) => {
    if (type !== 'parOf' || !texts.has(destId)) return
    const all = below.get(srcId) ?? []
    all.push({ to: destId, order: Number(srcOrd) || 0 })
    below.set(srcId, all)
  }
  const beginnings = new Map([
    ['dgm:pt', openPoint],
    ['dgm:cxn', connect],
    ['a:p', () => add(' ')],
    ['a:br', () => add(' ')],
  ])
  readXml(xml, {
    open(name, attributes) {
      isText = name === 'a:t'
      beginnings.get(name)?.(attributes)
    },
    text(data) {
      if (isText) add(data)
    },
    close() {
      isText = false
    },
  })
  for (const all of below.values()) all.sort((a, b) => a.order - b.order)
  return { texts, below }
}
