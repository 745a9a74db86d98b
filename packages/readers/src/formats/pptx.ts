import {
  createBoundedText,
  type Extracted,
  oneLine,
  toMarkdownList,
  warningOf,
} from '../extracted.ts'
import type { ReadWithin } from '../within.ts'
import type { ZipArchive } from '../zip-archive.ts'
import { chartsOf, chartToText } from './chart.ts'
import type { SeePicture } from './image.ts'
import { pathsOf, targetsOf } from './ooxml.ts'
import { embeddedIn } from './ooxml-embedded.ts'
import { commentAuthors, slideComments } from './pptx-comments.ts'
import { readSlide } from './pptx-slide.ts'
import { smartArtOf } from './smart-art.ts'
import { readXml } from './xml.ts'

/**
 * Slide by slide, each under its title; a slide counts as a page. A footer that is not there yet, what `see`
 * says for a slide's images, the speaker notes and the comments follow the slide; the files in it follow all.
 */
export async function extractPptx(
  zip: ZipArchive,
  main: string,
  see: SeePicture,
  read: ReadWithin,
): Promise<Extracted> {
  const text = createBoundedText()
  const pageStarts: number[] = []
  const hidden: string[] = []
  const slides = await slidePaths(zip, main)
  const authors = await commentAuthors(zip, main)
  const footers = new Set<string>()
  for (const [position, path] of slides.entries()) {
    pageStarts.push(text.length)
    const slide = readSlide(await zip.readText(path), await textsOfGraphics(zip, path))
    if (slide.isHidden) hidden.push(`${position + 1}`)
    const blocks = [
      `## ${slide.title || `Slide ${position + 1}`}\n\n${slide.body}`,
      ...slide.footers.filter((footer) => !footers.has(footer)),
      ...(await picturesOf(zip, path, position + 1, see)),
      await notesOf(zip, path),
      ...(await slideComments(zip, path, authors)),
    ]
    for (const footer of slide.footers) footers.add(footer)
    for (const block of blocks.filter(Boolean)) text.add(`${block}\n\n`)
  }
  text.add(await embeddedIn(zip, slides, read))
  const warnings = warningOf('hidden_slides', 'Slides that are hidden were read, too', hidden)
  return { text: text.toString(), pageStarts, ...(warnings.length > 0 && { warnings }) }
}

/** What `see` says for the images of a slide, each once, however often it is shown. */
async function picturesOf(
  zip: ZipArchive,
  slide: string,
  page: number,
  see: SeePicture,
): Promise<string[]> {
  const texts: string[] = []
  const pictures = new Set((await pathsOf(zip, slide, 'image')).values())
  for (const [index, picture] of [...pictures].entries()) {
    texts.push(await see(() => zip.readBytes(picture), { number: index + 1, page }))
  }
  return texts
}

/** The slides in the order of the presentation. */
async function slidePaths(zip: ZipArchive, main: string): Promise<string[]> {
  const targets = await targetsOf(zip, main)
  const paths: string[] = []
  readXml(await zip.readText(main), {
    open(name, attributes) {
      const target = name === 'p:sldId' && targets.get(attributes['r:id'] ?? '')
      if (target && zip.has(target.path)) paths.push(target.path)
    },
  })
  return paths
}

async function notesOf(zip: ZipArchive, slide: string): Promise<string> {
  const [path] = (await pathsOf(zip, slide, 'notesSlide')).values()
  const notes = path === undefined ? '' : oneLine(readSlide(await zip.readText(path)).body)
  return notes && `Notes: ${notes}`
}

/** The charts and the SmartArt of a slide as Markdown, by relationship ID. */
async function textsOfGraphics(zip: ZipArchive, slide: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const [id, chart] of await chartsOf(zip, slide)) texts.set(id, chartToText(chart))
  for (const [id, lines] of await smartArtOf(zip, slide)) texts.set(id, toMarkdownList(lines))
  return texts
}
