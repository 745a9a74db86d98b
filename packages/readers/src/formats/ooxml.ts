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

/** The parts that a part refers to, by relationship ID. */
export async function targetsOf(zip: ZipArchive, part: string): Promise<Map<string, Target>> {
  const targets = new Map<string, Target>()
  const folder = posix.dirname(part)
  const relations = `${folder}/_rels/${posix.basename(part)}.rels`
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
