import { posix } from 'node:path'
import { createBoundedText } from '../bounded-text.ts'
import type { Extracted } from '../extracted.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { readSlide } from './pptx-slide.ts'
import { readXml } from './xml.ts'

const PRESENTATION = 'ppt/presentation.xml'

/** Slide by slide, each under its title; a slide counts as a page. Speaker's notes follow their slide. */
export async function extractPptx(zip: ZipArchive): Promise<Extracted> {
  const text = createBoundedText()
  const pageStarts: number[] = []
  for (const [position, path] of (await slidePaths(zip)).entries()) {
    pageStarts.push(text.length)
    const { title, body } = readSlide(await zip.readText(path))
    text.add(`## ${title || `Slide ${position + 1}`}\n\n${body}\n\n`)
    const notes = await notesOf(zip, path)
    if (notes) text.add(`Notes: ${notes}\n\n`)
  }
  return { text: text.toString(), pageStarts }
}

/** In the order of the presentation. */
async function slidePaths(zip: ZipArchive): Promise<string[]> {
  const targets = await targetsOf(zip, PRESENTATION)
  const paths: string[] = []
  readXml(await zip.readText(PRESENTATION), {
    open(name, attributes) {
      const target = name === 'p:sldId' && targets.get(attributes['r:id'] ?? '')
      if (target && zip.has(target.path)) paths.push(target.path)
    },
  })
  return paths
}

async function notesOf(zip: ZipArchive, slide: string): Promise<string> {
  for (const { type, path } of (await targetsOf(zip, slide)).values()) {
    if (type.endsWith('/notesSlide') && zip.has(path)) {
      return readSlide(await zip.readText(path)).body.replaceAll(/\s+/g, ' ')
    }
  }
  return ''
}

/** What a part refers to, by the name that it uses for it. */
async function targetsOf(zip: ZipArchive, part: string) {
  const targets = new Map<string, { type: string; path: string }>()
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
