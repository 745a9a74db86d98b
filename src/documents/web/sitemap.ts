import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { boundBody } from '@agent-server/lib/bounded-body.ts'
import { FetchError, type FetchPage } from './fetch-page.ts'

/** The most of one file, unpacked: the limit of https://www.sitemaps.org/protocol.html */
const MAX_BYTES = 50 * 2 ** 20
/** The most files read of a sitemap index. */
const MAX_FILES = 50
/** The most addresses in one file, by the same protocol, and in all files of an index together. */
const MAX_ADDRESSES = 50_000
const MAX_NAMED_TOGETHER = 200_000
/** The longest address that a document may have, with some room for whitespace. */
const MAX_ADDRESS = 4_096
/** A sitemap has four levels, plus those of its extensions. */
const MAX_DEPTH = 32
const SLICE_BYTES = 65_536
const GZIP_MARK = [0x1f, 0x8b]

const unpack = promisify(gunzip)

interface Site {
  /** Addresses of pages on the sitemap's own host, in its order. */
  pages: string[]
  /** The number of further addresses in the part that was read: on other hosts, or beyond the limit. */
  left: number
}

interface Addresses {
  pages: string[]
  sitemaps: string[]
}

/** The pages in a sitemap, or in the sitemaps of an index. Throws like `FetchPage.get`. */
export async function readSitemap(
  { get }: FetchPage,
  url: string,
  limit: number,
  signal: AbortSignal,
): Promise<Site> {
  const host = URL.parse(url)?.host
  const isOwn = (address: string) => URL.parse(address)?.host === host
  const read = (file: string) =>
    get(file, {}, async (response) => parse(await readBytes(response), file), signal)
  const first = await read(url)
  const all = new Set(first.pages)
  // Only one level: a sitemap index must not contain another one.
  for (const file of first.sitemaps.filter(isOwn).slice(0, MAX_FILES)) {
    if (all.size >= MAX_NAMED_TOGETHER) break
    for (const page of (await read(file)).pages) all.add(page)
  }
  const pages = [...all].filter(isOwn).slice(0, limit)
  return { pages, left: all.size - pages.length }
}

async function readBytes({ body }: Response): Promise<Buffer> {
  if (!body) throw noSitemap()
  const all = await buffer(boundBody(body, { maxBytes: MAX_BYTES, tooLarge }))
  if (!GZIP_MARK.every((byte, place) => all[place] === byte)) return all
  return unpack(all, { maxOutputLength: MAX_BYTES }).catch((cause: unknown) => {
    throw cause instanceof RangeError ? tooLarge() : noSitemap(cause)
  })
}

/** Parses XML, or text with one address per line. Addresses beyond the maximum of a file are not read. */
async function parse(bytes: Buffer, base: string): Promise<Addresses> {
  const start = bytes.subarray(0, SLICE_BYTES).toString('utf8')
  const isXml = start
    .replace(/^\uFEFF/, '')
    .trimStart()
    .startsWith('<')
  const addresses: Addresses = { pages: [], sitemaps: [] }
  const add = (kind: keyof Addresses, address: string) => {
    const isGiven = address.length <= MAX_ADDRESS && (isXml || /^https?:/.test(address))
    const { href } = (isGiven && URL.parse(address.trim(), base)) || {}
    if (href?.startsWith('http')) addresses[kind].push(href)
  }
  const reader = isXml ? await readXml(add) : readLines((line) => add('pages', line))
  const decoder = new TextDecoder()
  for (let at = 0; at < bytes.length && countOf(addresses) < MAX_ADDRESSES; at += SLICE_BYTES) {
    reader.write(decoder.decode(bytes.subarray(at, at + SLICE_BYTES), { stream: true }))
    // The file may be large or malicious, so yield to the event loop in between.
    await nextTurn()
  }
  reader.end()
  if (countOf(addresses) === 0) throw noSitemap()
  return addresses
}

const countOf = ({ pages, sitemaps }: Addresses) => pages.length + sitemaps.length

interface Reader {
  write(text: string): void
  end(): void
}

function readLines(add: (line: string) => void): Reader {
  let rest = ''
  return {
    write(text) {
      const lines = (rest + text).split(/\r?\n/)
      rest = lines.pop()?.slice(0, MAX_ADDRESS + 1) ?? ''
      lines.forEach(add)
    },
    end: () => add(rest),
  }
}

async function readXml(add: (kind: keyof Addresses, address: string) => void): Promise<Reader> {
  const { Parser } = await import('htmlparser2')
  const open: string[] = []
  let text = ''
  const onclosetag = (name: string) => {
    open.pop()
    const within = open.at(-1)
    if (name === 'loc' && within === 'url') add('pages', text)
    if (name === 'loc' && within === 'sitemap') add('sitemaps', text)
    text = ''
  }
  const onopentagname = (name: string) => {
    // The parser gets slower per tag the more tags are open.
    if (open.push(name) > MAX_DEPTH) throw noSitemap()
  }
  const ontext = (part: string) => {
    if (text.length <= MAX_ADDRESS) text += part
  }
  const parser = new Parser({ onopentagname, ontext, onclosetag }, { xmlMode: true })
  return { write: (part) => parser.write(part), end: () => parser.end() }
}

function tooLarge(): FetchError {
  return new FetchError('fetch_failed', `The sitemap is larger than ${MAX_BYTES} bytes`)
}

function noSitemap(cause?: unknown): FetchError {
  return new FetchError(
    'fetch_failed',
    'The file is not a sitemap: neither XML nor a list of URLs',
    { cause },
  )
}
