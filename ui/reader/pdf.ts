import {
  AnnotationMode,
  GlobalWorkerOptions,
  getDocument,
  type PDFPageProxy,
  TextLayer,
  version,
} from 'pdfjs-dist'
import { findWords, type PieceRange } from './find-words.ts'

const OPEN_MS = 30_000
const DRAW_MS = 30_000
/** Time for the parser to free its memory before it is ended. */
const CLOSE_MS = 2_000
/** Safari on telephones draws no larger canvas. */
const MAX_CANVAS_PIXELS = 16_000_000
const BYTES_PER_PIXEL = 4
/** Side of a drawn page, in CSS pixels: pages can be as long as their authors like. */
const MAX_SIDE = 16_000
const MAX_IMAGE_PIXELS = 100_000_000
/** More than that is no text to read, such as the labels of a map. */
const MAX_PIECES = 20_000
const ERRORS_ONLY = 0

/** A file of the package beside this script; the server names them so. */
const fileURL = (name: string) => new URL(`pdfjs-${version}-${name}`, import.meta.url).href
const WORKER_URL = fileURL('pdf.worker.mjs')

export interface Pdf {
  pages: number
  /** Whether any of the texts stands on a page. */
  has(page: number, texts: readonly string[]): Promise<boolean>
  draw(page: number, options: DrawOptions): Promise<DrawnPage>
  close(): void
}

interface DrawOptions {
  /** In CSS pixels. */
  width: number
  /** The marks that were found on the page. */
  texts: readonly string[]
  signal: AbortSignal
}

interface DrawnPage {
  /** The picture of the page, and its words over it. */
  element: HTMLElement
  marks: readonly HTMLElement[]
}

/**
 * Opens a PDF. Its parser runs in a worker that can load nothing; its scripts, links and forms stay as dead as on paper.
 * Throws if it is damaged, or the browser lacks what PDF.js needs.
 */
export async function openPdf(data: Uint8Array, signal: AbortSignal): Promise<Pdf> {
  const port = new Worker(trustedWorkerURL(), { type: 'module' })
  GlobalWorkerOptions.workerPort = port
  const task = getDocument({
    data,
    verbosity: ERRORS_ONLY,
    maxImageSize: MAX_IMAGE_PIXELS,
    canvasMaxAreaInBytes: MAX_CANVAS_PIXELS * BYTES_PER_PIXEL,
    BinaryDataFactory: PackageFiles,
    useWorkerFetch: false,
  })
  const close = () => {
    setTimeout(() => port.terminate(), CLOSE_MS)
    task.destroy().catch(() => undefined)
  }
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(OPEN_MS), failureOf(port)])
    const pdf = await unlessAborted(task.promise, deadline)
    return {
      pages: pdf.numPages,
      async has(page, texts) {
        const matches = findOn(await pdf.getPage(page), texts)
        return (await unlessAborted(matches, AbortSignal.timeout(DRAW_MS))).length > 0
      },
      draw: async (page, options) => draw(await pdf.getPage(page), options),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Draws a page so wide, and marks the texts that are on it. */
async function draw(page: PDFPageProxy, { width, texts, signal }: DrawOptions): Promise<DrawnPage> {
  const natural = page.getViewport({ scale: 1 })
  const scale = Math.min(width / natural.width, MAX_SIDE / natural.width, MAX_SIDE / natural.height)
  const viewport = page.getViewport({ scale })
  const canvas = document.createElement('canvas')
  const pixels = viewport.width * viewport.height
  const density = Math.min(devicePixelRatio, Math.sqrt(MAX_CANVAS_PIXELS / pixels))
  canvas.width = Math.max(1, Math.floor(viewport.width * density))
  canvas.height = Math.max(1, Math.floor(viewport.height * density))
  const drawing = page.render({
    canvas,
    viewport,
    transform: [density, 0, 0, density, 0, 0],
    // What was filled in is drawn as it looks; nothing of it can be used.
    annotationMode: AnnotationMode.ENABLE,
  })
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(DRAW_MS)])
  try {
    await unlessAborted(drawing.promise, deadline)
    const element = document.createElement('div')
    element.className = 'pdf-page'
    element.style.inlineSize = `${viewport.width}px`
    element.style.blockSize = `${viewport.height}px`
    element.style.setProperty('--total-scale-factor', `${scale}`)
    element.append(canvas)
    // Without its words, a page is a picture.
    const words = addWords(element, page, viewport, texts).catch(() => [])
    const marks = await unlessAborted(words, deadline)
    return { element, marks }
  } finally {
    drawing.cancel()
    page.cleanup()
  }
}

type Viewport = ReturnType<PDFPageProxy['getViewport']>

/** Lays the text of a page over its picture, for selection and screen readers; returns the marked parts. */
async function addWords(
  element: HTMLElement,
  page: PDFPageProxy,
  viewport: Viewport,
  texts: readonly string[],
): Promise<HTMLElement[]> {
  const content = await page.getTextContent()
  if (content.items.length > MAX_PIECES) return []
  const container = document.createElement('div')
  container.className = 'pdf-words'
  const layer = new TextLayer({ textContentSource: content, container, viewport })
  await layer.render()
  element.append(container)
  return markWords(layer.textDivs, findWords(layer.textContentItemsStr, texts))
}

function markWords(pieces: readonly HTMLElement[], ranges: readonly PieceRange[]): HTMLElement[] {
  // From the last on, so that the places before stay where they are.
  const marks = ranges.toReversed().flatMap(({ piece, start, end }) => {
    const text = pieces[piece]?.firstChild
    if (!(text instanceof Text)) return []
    const words = text.splitText(start)
    words.splitText(end - start)
    const mark = document.createElement('mark')
    words.replaceWith(mark)
    mark.append(words)
    return [mark]
  })
  return marks.toReversed()
}

async function findOn(page: PDFPageProxy, texts: readonly string[]): Promise<PieceRange[]> {
  const { items } = await page.getTextContent()
  const pieces = items.flatMap((item) => ('str' in item ? [item.str] : []))
  return pieces.length > MAX_PIECES ? [] : findWords(pieces, texts)
}

/** What the parser asks for besides the PDF: its decoders, character maps and fonts of signs. */
class PackageFiles {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    // The name comes from the worker, which a PDF might have taken over.
    if (!/^[\w-]+\.(?:wasm|bcmap|pfb)$/.test(filename)) throw new Error(`There is no ${filename}`)
    const response = await fetch(fileURL(filename))
    if (!response.ok) throw new Error(`There is no ${filename}`)
    return new Uint8Array(await response.arrayBuffer())
  }
}

interface URLPolicy {
  createScriptURL(url: string): string
}

declare global {
  interface Window {
    /** Not in every browser. */
    trustedTypes?: { createPolicy(name: string, rules: URLPolicy): URLPolicy }
  }
}

/** The policy of the page lets only this address become a worker. */
function trustedWorkerURL(): string {
  workerPolicy ??= window.trustedTypes?.createPolicy('pdf-worker', {
    createScriptURL: () => WORKER_URL,
  })
  return workerPolicy?.createScriptURL(WORKER_URL) ?? WORKER_URL
}
let workerPolicy: URLPolicy | undefined

/** Aborted when a worker fails, such as in a browser that does not know its language. */
function failureOf(worker: Worker): AbortSignal {
  const failing = new AbortController()
  worker.addEventListener('error', ({ message }) => failing.abort(new Error(message)))
  return failing.signal
}

/** Rejects with the reason of the signal once that is aborted. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([work, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
