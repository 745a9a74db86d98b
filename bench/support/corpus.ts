import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { splitText } from '../../src/documents/ingestion/split/split-text.ts'

export interface CorpusDocument {
  title: string
  text: string
}

/** Folders in which systems keep documentation; missing ones are skipped. */
const ROOTS = [
  '/usr/share/doc',
  '/usr/share/info',
  '/usr/share/perl',
  '/usr/share/vim',
  '/usr/share/man',
  '/opt/homebrew/share/doc',
  '/opt/homebrew/share/man',
]
/** Legal texts and change logs are repetitive, and so are the sources and styles of rendered pages. */
const SKIPPED = /^(copyright|changelog|licen[cs]e|_sources|_static|src$|\.git)/i
const MIN_TEXT = 1_000
const MAX_FILE_BYTES = 8_000_000

/** Debian packages with much text. */
const HELPFUL_PACKAGES = 'linux-doc rust-doc sqlite3-doc vim-doc debian-handbook git-doc'

/** Real text found on this machine: each text once, shuffled, but in the same order for the same files. */
export interface Corpus {
  /** Documents that together make at least this many chunks. */
  take(chunks: number): Generator<CorpusDocument>
  /** What a reader of the figures has to know about the part of the corpus that was read. */
  notes(): string[]
}

export function createCorpus(folder: string | undefined): Corpus {
  const files = listFiles(folder === undefined ? ROOTS : [folder])
  let spliced = false

  return {
    *take(chunks) {
      let left = chunks
      for (const document of readAll(files)) {
        yield document
        left -= splitText(document.text).length
        if (left <= 0) return
      }
      spliced = true
      for (const document of splice(files)) {
        yield document
        left -= splitText(document.text).length
        if (left <= 0) return
      }
    },
    notes: () => [
      `Text: ${files.length} files of documentation found on this machine.`,
      ...(spliced ? [`They do not suffice: the rest is spliced of them. ${ADVICE}`] : []),
    ],
  }
}

const ADVICE = `For more real text, install packages such as ${HELPFUL_PACKAGES}, or name a folder with --corpus.`

function listFiles(roots: readonly string[]): string[] {
  const files = roots.filter(existsSync).flatMap((root) => [...filesBelow(root)])
  const keyed = files.map((path) => ({ path, key: sha1(path) }))
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : 1)).map(({ path }) => path)
}

function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (SKIPPED.test(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.isFile() && toPlainText(path, '') !== undefined) yield path
  }
}

function* readAll(files: readonly string[]): Generator<CorpusDocument> {
  const seen = new Set<string>()
  for (const path of files) {
    const text = readText(path)
    const digest = sha1(text)
    if (text.length < MIN_TEXT || seen.has(digest)) continue
    seen.add(digest)
    yield { title: titleOf(path), text }
  }
}

/** Synthetic documents: the odd paragraphs of one text between the even ones of another. */
function* splice(files: readonly string[]): Generator<CorpusDocument> {
  for (let distance = 1; ; distance += 1) {
    let yielded = false
    for (const [index, path] of files.entries()) {
      const one = readText(path).split('\n\n')
      const other = readText(files[(index + distance) % files.length] ?? path).split('\n\n')
      const text = one.map((part, at) => (at % 2 === 0 ? part : (other[at] ?? part))).join('\n\n')
      if (text.length < MIN_TEXT) continue
      yielded = true
      yield { title: titleOf(path), text }
    }
    if (!yielded) throw new Error(`There is no text to measure with. ${ADVICE}`)
  }
}

function readText(path: string): string {
  if (statSync(path).size > MAX_FILE_BYTES) return ''
  const bytes = readFileSync(path)
  const source = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
  const readable = !source.includes('\0') && !source.includes('\ufffd')
  return readable ? (toPlainText(path, source) ?? '') : ''
}

function titleOf(path: string): string {
  return basename(path)
    .replace(/\.gz$/, '')
    .replace(/\.(html?|txt|md|rst|[1-9])$/, '')
    .replaceAll(/[_-]+/g, ' ')
}

function sha1(text: string): string {
  return createHash('sha1').update(text).digest('base64')
}

/** Extracts the text of a file in the format that its name indicates; undefined if the format is not supported. */
function toPlainText(name: string, source: string): string | undefined {
  const plain = name.replace(/\.gz$/, '')
  if (/\.html?$/.test(plain)) return fromHtml(source)
  if (/\.[1-9][a-z]*$/.test(plain)) return fromManual(source)
  if (/\.(txt|md|rst|pod|text|info)(-\d+)?$/.test(plain)) return source
  if (/(^|\/)(README|FAQ|HOWTO|TUTORIAL|NOTES)[^/.]*$/i.test(plain)) return source
  return undefined
}

const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  mdash: '—',
  ndash: '–',
  hellip: '…',
}

function fromHtml(source: string): string {
  return source
    .replace(/<(script|style|head|nav|svg)\b[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<h([1-6])\b[^>]*>/gi, (_, level) => `\n\n${'#'.repeat(Number(level))} `)
    .replace(/<li\b[^>]*>/gi, '\n- ')
    .replace(/<\/?(p|div|pre|table|ul|ol|dl|section|h[1-6])\b[^>]*>/gi, '\n\n')
    .replace(/<(br|tr|dt|dd)\b[^>]*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d{1,6});/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&([a-z]+);/g, (entity, name) => ENTITIES[name] ?? entity)
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/** Converts manual pages: headings become Markdown headings; macros and font changes are removed. */
function fromManual(source: string): string {
  return source
    .replace(/^[.']\s*\\".*\n/gm, '')
    .replace(/^\.\s*(SH|Sh) +"?(.*?)"?$/gm, '\n# $2\n')
    .replace(/^\.\s*(SS|Ss) +"?(.*?)"?$/gm, '\n## $2\n')
    .replace(/^\.\s*(PP|LP|P|TP|IP|HP|Pp|br|sp)\b.*$/gm, '')
    .replace(/^\.\s*[A-Za-z]{1,3} ?/gm, '')
    .replace(/\\f(\[\w*\]|\(\w\w|.)/g, '')
    .replace(/\\\*?\(../g, '')
    .replace(/\\([-&e|^%])/g, (_, escaped) => (escaped === '-' ? '-' : ''))
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
