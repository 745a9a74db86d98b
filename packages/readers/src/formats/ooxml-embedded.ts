import { posix } from 'node:path'
import { ExtractionError } from '../extracted.ts'
import { attachmentToText, MAX_WITHIN, type ReadWithin } from '../within.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { targetsOf } from './ooxml.ts'

const EMBEDDED = /\/(?:package|oleObject)$/

/** The files that parts of an Office file hold, with their texts; '' if there are none. */
export async function embeddedIn(
  zip: ZipArchive,
  parts: readonly string[],
  read: ReadWithin,
): Promise<string> {
  const paths = new Set<string>()
  for (const part of parts) {
    for (const { type, path } of (await targetsOf(zip, part)).values()) {
      if (EMBEDDED.test(type) && zip.has(path)) paths.add(path)
    }
  }
  const texts: string[] = []
  for (const [index, path] of [...paths].slice(0, MAX_WITHIN).entries()) {
    const file = await fileIn(posix.basename(path), await zip.readBytes(path))
    texts.push(await attachmentToText({ ...file, mediaType: '' }, index + 1, read))
  }
  return texts.length === 0 ? '' : `\n\n${texts.join('')}`
}

/** The file that an object holds as another program wrote it; else the object itself. */
async function fileIn(name: string, bytes: Buffer): Promise<{ name: string; bytes: Buffer }> {
  if (!name.endsWith('.bin')) return { name, bytes }
  const { CFB } = await import('@e965/xlsx')
  try {
    const container = CFB.read(bytes, { type: 'buffer' })
    const streamOf = (path: string) => {
      const content = CFB.find(container, path)?.content
      return content && Buffer.from(content)
    }
    const packaged = streamOf('\u0001Ole10Native')
    if (packaged) return packagedFile(packaged) ?? { name, bytes }
    const inner = streamOf('Package') ?? streamOf('CONTENTS')
    return { name, bytes: inner ?? bytes }
  } catch (error) {
    if (error instanceof ExtractionError) throw error
    // Anything that is not such a container is read as a file, or named.
    return { name, bytes }
  }
}

/** A file as the packager of Windows embeds it: sizes, its name, its paths, its length, its bytes. */
function packagedFile(native: Buffer): { name: string; bytes: Buffer } | undefined {
  const endOf = (start: number) => native.indexOf(0, start) + 1
  const named = endOf(6)
  const source = endOf(named)
  if (named === 0 || source === 0 || source + 8 > native.length) return undefined
  const length = native.readUInt32LE(source + 4)
  const at = source + 8 + length
  if (at + 4 > native.length) return undefined
  const bytes = native.subarray(at + 4, at + 4 + native.readUInt32LE(at))
  const name = native.toString('latin1', 6, named - 1)
  return { name: name.slice(name.lastIndexOf('\\') + 1), bytes }
}
