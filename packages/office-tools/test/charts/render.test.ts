import { basename } from 'node:path'
import { runJob } from '@agent-server/lib/processes/child-process.ts'
import { JobExhausted } from '@agent-server/lib/processes/job.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { describe, expect, it } from 'vitest'
import { hasFonts } from '../../../../test/support/fonts.ts'
import { long, onlyLong, someOf } from '../../../../test/support/long.ts'
import { createRunnerHere } from '../../../../test/support/run-job.ts'
import {
  ChartRequest,
  createCharts,
  RENDERING,
  toChartSpecification,
} from '../../src/charts/charts.ts'
import { fontsFor } from '../../src/charts/render.ts'

const { signal } = new AbortController()
const charts = createCharts(createRunnerHere())
const ROWS = [
  { region: 'north', amount: 12, day: '2026-01-01' },
  { region: 'südwest & <co>', amount: 7, day: '2026-01-02' },
  { region: 'Привет', amount: 30, day: '2026-01-03' },
]
const request = (more: object) => ChartRequest.parse({ mark: 'bar', rows: ROWS, ...more })
const draw = (more: object) => {
  const asked = request(more)
  return charts.render(toChartSpecification(asked, asked.rows ?? []), undefined, signal)
}
/** Width and height of a PNG, from its header. */
function sizeOf(png: Uint8Array): number[] {
  const view = new DataView(png.buffer, png.byteOffset)
  return [view.getUint32(16), view.getUint32(20)]
}
const x = { field: 'region' }
const y = { field: 'amount' }

describe('a chart', () => {
  it('is drawn as SVG and as PNG of twice its size, with its words in it', async () => {
    const { svg, png } = await draw({ title: 'Sales', x, y, width: 300, height: 200 })
    expect(svg).toMatch(/^<svg/)
    for (const word of ['Sales', 'north', 'südwest &amp; &lt;co&gt;', 'Привет']) {
      expect(svg).toContain(word)
    }
    const [, width = 0] = /width="([\d.]+)"/.exec(svg)?.map(Number) ?? []
    expect(sizeOf(png)[0]).toBe(Math.ceil(width * 2))
    expect(png.length).toBeGreaterThan(3_000)
  })

  it.each(
    someOf<[string, object]>(
      [
        ['line', { x: { field: 'day' }, y }],
        ['area', { x: { field: 'day' }, y, color: x }],
        ['point', { x: y, y, size: y }],
        ['pie', { theta: y, color: x }],
        ['heatmap', { x, y: { field: 'day', timeUnit: 'day' }, color: y }],
        ['boxplot', { x, y }],
        ['tick', { x: y }],
        ['bar', { x: { field: 'amount', bin: true }, y: { aggregate: 'count' } }],
        ['bar', { x: { field: 'region', sort: '-y' }, y: { field: 'amount', aggregate: 'sum' } }],
        ['bar', { x, y: { ...y, stack: 'normalize' }, column: { field: 'day', type: 'nominal' } }],
      ],
      3,
    ),
  )('can be a %s of %j', long, async (mark, channels) => {
    const { png } = await draw({ mark, ...channels, width: 200, height: 120 })
    expect(png.length).toBeGreaterThan(1_000)
  })

  it('takes the type of a channel from the values', () => {
    const { encoding } = toChartSpecification(request({ x: { field: 'day' }, y, color: x }), ROWS)
    expect(encoding).toMatchObject({
      x: { type: 'temporal' },
      y: { type: 'quantitative' },
      color: { type: 'nominal' },
    })
  })

  it('accepts columns of any name', onlyLong, async () => {
    const rows = [{ 'a.b[0]': 1, "it's": 'x' }]
    const { svg } = await draw({ rows, x: { field: "it's" }, y: { field: 'a.b[0]' } })
    expect(svg).toContain('a.b[0]')
  })

  it('names the known columns if one is unknown', () => {
    expect(() => toChartSpecification(request({ x: { field: 'nothing' } }), ROWS)).toThrow(
      /no column "nothing", only region, amount, day/,
    )
  })

  it.each([
    ['no data', { rows: undefined, x }],
    ['data of two kinds', { sql: 'SELECT 1', x }],
    ['neither x nor y', {}],
    ['a pie without slices', { mark: 'pie', x }],
    ['an unknown mark', { mark: 'image', x }],
    ['an address', { x, data: { url: 'http://127.0.0.1/' } }],
    ['an expression', { x: { field: 'region', condition: { test: 'alert(1)' } } }],
    ['a link', { x, href: { field: 'region' } }],
    ['rows without measure', { x, rows: Array.from({ length: 5_001 }, () => ({ a: 1 })) }],
    ['nested rows', { x, rows: [{ region: { a: 1 } }] }],
  ])('is refused with %s', (_case, more) => {
    expect(ChartRequest.safeParse({ mark: 'bar', rows: ROWS, ...more }).success).toBe(false)
  })

  it.each([
    [1e9, 1_600],
    [-5, 100],
  ])('with a width of %d is drawn with the nearest that is allowed', (width, drawn) => {
    expect(ChartRequest.parse({ mark: 'bar', rows: ROWS, x, width })).toMatchObject({
      width: drawn,
    })
  })
})

describe('The process that draws', () => {
  const run = (specification: object, more: object = {}) =>
    runJob({ ...RENDERING, ...more }, specification, signal)
  const bars = { mark: 'bar', encoding: { x: { field: 'a', type: 'nominal' } } }

  it.each([
    ['an address', { data: { url: 'http://127.0.0.1:9/x.json' } }],
    ['a file', { data: { url: 'file:///etc/passwd', format: { type: 'dsv', delimiter: ':' } } }],
    ['a path', { data: { url: '/etc/passwd', format: { type: 'csv' } } }],
  ])('loads nothing, not even %s', onlyLong, async (_case, more) => {
    const drawn = await run({ ...bars, ...more }).catch((error: unknown) => error)
    const text = drawn instanceof Error ? drawn.message : JSON.stringify(drawn)
    expect(text).not.toMatch(/daemon|nologin|:0:0:/)
  })

  it('interprets expressions: none reaches the process', async () => {
    const data = { values: [{ a: 1 }] }
    const transform = [{ calculate: `constructor.constructor('return process')().exit()`, as: 'a' }]
    await expect(run({ ...bars, data, transform })).rejects.toThrow(Refusal)
  })

  it('refuses a picture without bounds', onlyLong, async () => {
    const data = { values: [{ a: 1 }] }
    await expect(run({ ...bars, data, width: 60_000, height: 60_000 })).rejects.toThrow(/too large/)
  })

  it('is ended at its deadline', async () => {
    const transform = [{ sequence: { start: 0, stop: 1e9 } }]
    const endless = { ...bars, data: { sequence: { start: 0, stop: 1e9, as: 'a' } } }
    const drawn = run({ ...endless, transform: transform.slice(1) }, { deadlineMs: 1_500 })
    await expect(drawn).rejects.toThrow(JobExhausted)
  })
})

describe('The fonts of a chart', () => {
  const USUAL = ['DejaVuSans.ttf', 'DejaVuSans-Bold.ttf']
  const CHINESE = 'NotoSansHans-Regular.otf'
  const KOREAN = 'NotoSansKR-Regular.otf'
  const drawing = (text: string) => `<svg aria-label="ส"><text x="1">${text}</text></svg>`

  const FAR_EAST: [string, string, string[]][] = [
    ['Chinese and Japanese', '北京 東京都 ひらがな', [...USUAL, CHINESE]],
    ['Korean', '서울', [...USUAL, KOREAN]],
    ['all of them', '北京 서울', [...USUAL, CHINESE, KOREAN]],
  ]

  describe('The fonts of a drawing', () => {
    it.each<[string, string, string[]]>([
      ['Latin, Greek, Cyrillic', 'Ångström Ελλάς Привет &amp; &lt;', USUAL],
      ['Arabic and Hebrew', 'القاهرة ירושלים', USUAL],
      ['symbols', 'ok ☺ 😀 ✓', USUAL],
      ...(hasFonts ? FAR_EAST : []),
      ['nothing', '', USUAL],
      ['characters without form', 'a\u200d\ufe0f\u200f b', USUAL],
    ])('hold every character of its texts: %s', async (_case, text, names) => {
      expect((await fontsFor(drawing(text))).map((path) => basename(path))).toEqual(names)
    })

    it.each([
      ['สวัสดี', 'There is no glyph for ส ว ั ด ี to draw the chart with: rename these things'],
      ['Ω 🦜', 'There is no glyph for 🦜 to'],
      ['अआइईउऊऋएऐओऔक', 'अ आ इ ई उ ऊ ऋ ए ऐ ओ … to'],
    ])('that none has are told: %s', async (text, expected) => {
      await expect(fontsFor(drawing(text))).rejects.toThrow(expected)
      await expect(fontsFor(drawing(text))).rejects.toBeInstanceOf(Refusal)
    })
  })

  describe('A chart in any script', () => {
    const draw = (city: string) => {
      const rows = [{ city, n: 3 }]
      const more = { x: { field: 'city' }, y: { field: 'n' } }
      const request = ChartRequest.parse({ mark: 'bar', rows, ...more, width: 200, height: 100 })
      const { signal } = new AbortController()
      return createCharts(createRunnerHere()).render(
        toChartSpecification(request, rows),
        undefined,
        signal,
      )
    }

    it('is drawn with its words: each gives another picture', async () => {
      const cities = ['القاهرة', 'Рига', ...(hasFonts ? ['北京', '東京', '서울'] : [])]
      const pictures = await Promise.all(cities.map(async (city) => (await draw(city)).png))
      const distinct = new Set(pictures.map((png) => Buffer.from(png).toString('base64')))
      expect(distinct.size).toBe(cities.length)
    })

    it('is refused rather than drawn with boxes', async () => {
      await expect(draw('สวัสดี')).rejects.toThrow(Refusal)
    })
  })
})
