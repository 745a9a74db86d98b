import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { FetchPage } from '../../../src/documents/web/fetch-page.ts'
import { readSitemap } from '../../../src/documents/web/sitemap.ts'
import { long, onlyLong, someOf } from '../../support/long.ts'
import { processorMs } from '../../support/processor-time.ts'

const { signal } = new AbortController()
const HOST = 'http://site.test'
const MANY = 200_000
const pages = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, i) => `<url><loc>${HOST}/${prefix}${i}</loc></url>`).join('')

/** Of a site whose files these are, by their paths. */
function read(files: Record<string, string | Buffer>, path = '/sitemap.xml', limit = 10) {
  const asked: string[] = []
  const fetchPage: FetchPage = {
    get(url, _headers, taken) {
      asked.push(url)
      const file = Buffer.from(files[new URL(url).pathname] ?? '')
      return taken(new Response(file))
    },
  }
  return { site: readSitemap(fetchPage, HOST + path, limit, signal), asked }
}

describe('A sitemap', () => {
  it.each([
    ['XML', `<urlset>${pages(3)}</urlset>`],
    ['packed XML', gzipSync(`\uFEFF\n<urlset>${pages(3)}</urlset>`)],
    ['addresses', `${HOST}/0\r\n${HOST}/1\n\nnothing\n${HOST}/2`],
  ])('names pages as %s', async (_as, file) => {
    const named = [0, 1, 2].map((page) => `${HOST}/${page}`)
    expect(await read({ '/sitemap.xml': file }).site).toEqual({ pages: named, left: 0 })
  })

  it('is read across the parts that it is taken in, whatever stands at their borders', async () => {
    const file = `<urlset>${pages(5_000, 'ä€🦉-')}</urlset>`
    const { pages: named } = await read({ '/sitemap.xml': file }, '/sitemap.xml', 9_999).site
    expect(named).toHaveLength(5_000)
    expect(new Set(named.map((page) => page.replace(/\d+$/, '')))).toEqual(
      new Set([new URL('/ä€🦉-', HOST).href]),
    )
  })

  it.each([
    ['XML', `<urlset>${pages(MANY)}</urlset>`],
    ['addresses', Array.from({ length: MANY }, (_, i) => `${HOST}/${i}`).join('\n')],
  ])('is read no further than a sitemap may go: %s', async (_as, file) => {
    const { left } = await read({ '/sitemap.xml': gzipSync(file) }).site
    expect(left).toBeGreaterThan(49_000)
    expect(left).toBeLessThan(100_000)
  })

  it('is read no further than all of an index together may go', onlyLong, async () => {
    const names = Array.from({ length: 12 }, (_, i) => `/${i}.xml`)
    const index = names.map((name) => `<sitemap><loc>${HOST}${name}</loc></sitemap>`).join('')
    const files = names.map((name) => [name, gzipSync(`<urlset>${pages(50_000, name)}</urlset>`)])
    const { site, asked } = read({ '/sitemap.xml': index, ...Object.fromEntries(files) })
    await site
    expect(asked.length).toBeLessThan(8)
  })

  it.each(
    someOf(
      [
        ['tags within tags without an end', '<a>'.repeat(2_000_000)],
        ['one line without an end', `x${'y'.repeat(20_000_000)}`],
        ['one address without an end', `<urlset><url><loc>${'y'.repeat(20_000_000)}`],
      ],
      1,
    ),
  )('is refused, and takes no long work: %s', long, async (_case, file) => {
    const before = processorMs()
    const { site } = read({ '/sitemap.xml': file })
    await expect(site).rejects.toThrow('is not a sitemap')
    expect(processorMs() - before).toBeLessThan(5_000)
  })
})
