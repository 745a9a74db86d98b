import { posix } from 'node:path'
import type { ZipArchive } from '../zip-archive.ts'
import { readXml } from './xml.ts'

/** A part of an Office file that another part refers to. */
interface Target {
  type: string
  path: string
}

/** The paths of the parts of a type that a part refers to, by relationship ID; without those that are missing. */
export async function pathsOf(
  zip: ZipArchive,
  part: string,
  kind: string,
): Promise<Map<string, string>> {
  const targets = [...(await targetsOf(zip, part))]
  const matches = targets.filter(([, { type, path }]) => type.endsWith(`/${kind}`) && zip.has(path))
  return new Map(matches.map(([id, { path }]) => [id, path]))
}

export type OfficeKind = 'word' | 'presentation' | 'workbook' | 'binary workbook'

/** The kinds of main parts, by their content types. */
const KINDS: readonly (readonly [OfficeKind, RegExp])[] = [
  ['word', /wordprocessingml|ms-word/],
  ['presentation', /presentationml|ms-powerpoint/],
  ['binary workbook', /ms-excel\.sheet\.binary/],
  ['workbook', /spreadsheetml|ms-excel/],
]

/** The main part of an Office file, which may have any name; undefined for other files. */
export async function mainPartOf(
  zip: ZipArchive,
): Promise<{ path: string; kind: OfficeKind } | undefined> {
  const [path] = (await pathsOf(zip, '', 'officeDocument')).values()
  if (path === undefined) return undefined
  const type = zip.has(CONTENT_TYPES) ? contentTypeIn(await zip.readText(CONTENT_TYPES), path) : ''
  const kind =
    KINDS.find(([, types]) => types.test(type))?.[0] ?? KIND_BY_FOLDER.get(path.split('/')[0] ?? '')
  return kind && { path, kind }
}

const CONTENT_TYPES = '[Content_Types].xml'
const KIND_BY_FOLDER = new Map<string, OfficeKind>([
  ['word', 'word'],
  ['ppt', 'presentation'],
  ['xl', 'workbook'],
])

function contentTypeIn(xml: string, path: string): string {
  let type = ''
  readXml(xml, {
    open(_, { PartName: name = '', ContentType: content = '' }) {
      if (name.toLowerCase() === `/${path}`.toLowerCase()) type = content
    },
  })
  return type
}

/** The parts that a part, or with '' the file, refers to, by relationship ID. */
export async function targetsOf(zip: ZipArchive, part: string): Promise<Map<string, Target>> {
  const targets = new Map<string, Target>()
  const folder = posix.dirname(part)
  const relations = posix.join(folder, '_rels', `${posix.basename(part)}.rels`)
  if (!zip.has(relations)) return targets
  readXml(await zip.readText(relations), {
    open(name, { Id: id, Type: type = '', Target: target = '' }) {
      if (name !== 'Relationship' || id === undefined) return
      const path = target.startsWith('/') ? target.slice(1) : posix.join(folder, target)
      targets.set(id, { type, path })
    },
  })
  return targets
}
