import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { runJob } from '@agent-server/lib/processes/child-process.ts'
import { JobExhausted } from '@agent-server/lib/processes/job.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { long, someOf } from '../../../../test/support/long.ts'
import { peakMegabytes } from '../../../../test/support/peak-megabytes.ts'
import { runJobHere } from '../../../../test/support/run-job.ts'
import { temporaryDirectory } from '../../../../test/support/temporary-files.ts'
import { ChartRequest, RENDERING } from '../../src/charts/charts.ts'

const { signal } = new AbortController()
const SECRET = 'TOP-SECRET'
const Drawn = z.object({ svg: z.string() })
const data = { values: [{ a: 'x', b: 1 }] }
const BAR = {
  data,
  mark: 'bar',
  encoding: { x: { field: 'a', type: 'nominal' }, y: { field: 'b', type: 'quantitative' } },
}
const calculate = (expression: string) => ({
  ...BAR,
  transform: [{ calculate: expression, as: 'c' }],
})
const many = (count: number) => Array.from({ length: count }, (_, n) => ({ a: `v${n}`, b: n }))

/** Hears whatever is fetched. */
let url: string
const fetched: string[] = []
beforeAll(async () => {
  const listener = createServer((request, response) => {
    fetched.push(request.url ?? '')
    response.end('{}')
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return () => listener.close()
})

/** As in production, but for less long. */
const inItsProcess: typeof runJobHere = (job, input) =>
  runJob({ ...job, deadlineMs: 2_500 }, input, signal)

/** What comes of a specification: a drawing, or the kind of failure. */
async function draw(specification: object, run = runJobHere) {
  try {
    const drawn = await run(RENDERING, specification)
    return { svg: Drawn.parse(drawn).svg }
  } catch (failure) {
    return { failure }
  }
}

/** Whatever a browser would run, fetch or follow. */
const ACTIVE = /<script|<foreignObject|<iframe|\son\w+=|(?:href|src)="[^"]|@import/i

describe('A hostile specification', () => {
  const addresses: [string, (url: string) => object][] = [
    ['data at an address', () => ({ ...BAR, data: { url: `${url}/data.json` } })],
    [
      'data to look up at an address',
      () => ({
        ...BAR,
        transform: [{ lookup: 'a', from: { data: { url: `${url}/l` }, key: 'a', fields: ['b'] } }],
      }),
    ],
    [
      'a map at an address',
      () => ({
        data: { url: `${url}/map`, format: { type: 'topojson', feature: 'x' } },
        mark: 'geoshape',
      }),
    ],
    [
      'a picture',
      () => ({ data, mark: { type: 'image', url: `${url}/i.png`, width: 9, height: 9 } }),
    ],
    [
      'pictures named by the data',
      () => ({
        data: { values: [{ at: `${url}/f.png` }] },
        mark: 'image',
        encoding: { url: { field: 'at', type: 'nominal' } },
      }),
    ],
    [
      'a picture within a picture',
      () => ({
        data,
        mark: {
          type: 'image',
          width: 9,
          height: 9,
          url: `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}/n"/></svg>`,
        },
      }),
    ],
    ['a link', () => ({ ...BAR, mark: { type: 'bar', href: `${url}/link` } })],
    [
      'a link of the data',
      () => ({
        ...BAR,
        data: { values: [{ a: 'x', b: 1, to: 'javascript:alert(1)' }] },
        encoding: { ...BAR.encoding, href: { field: 'to', type: 'nominal' } },
      }),
    ],
    ['a schema', () => ({ $schema: `${url}/schema.json`, ...BAR })],
    ['a colour', () => ({ ...BAR, mark: { type: 'bar', color: `url(${url}/colour)` } })],
    ['a font', () => ({ ...BAR, config: { font: `x"; @import url(${url}/font)` } })],
    [
      'a pointer',
      () => ({ ...BAR, mark: { type: 'bar', cursor: `url(${url}/c)`, tooltip: true } }),
    ],
    [
      'settings for whoever embeds it',
      () => ({
        ...BAR,
        usermeta: { embedOptions: { loader: { baseURL: url }, patch: `${url}/patch.json` } },
      }),
    ],
    [
      'Vega itself',
      () => ({
        $schema: 'https://vega.github.io/schema/vega/v6.json',
        data: [{ name: 'table', url: `${url}/vega` }],
        marks: [],
      }),
    ],
  ]

  it.each(someOf(addresses, 2))('fetches nothing: %s', long, async (_case, specify) => {
    const { svg = '', failure } = await draw(specify(url))
    expect(failure === undefined || failure instanceof Refusal).toBe(true)
    expect(svg).not.toMatch(/<image[^>]*href="[^"]/)
    expect(svg.replaceAll(`@import url(${url}/font)`, '')).not.toMatch(ACTIVE)
    expect(fetched).toEqual([])
  })

  it.each(
    someOf(
      [
        ['data', (path: string) => ({ ...BAR, data: { url: path, format: { type: 'csv' } } })],
        ['an address of data', (path: string) => ({ ...BAR, data: { url: `file://${path}` } })],
        ['a picture', (path: string) => ({ data, mark: { type: 'image', url: path } })],
        [
          'an address of a picture',
          (path: string) => ({ data, mark: { type: 'image', url: `file://${path}` } }),
        ],
      ],
      1,
    ),
  )('reads no file: %s', long, async (_case, specify) => {
    const path = join(await temporaryDirectory(), 'secret.csv')
    await writeFile(path, `a,b\n${SECRET},1\n`)
    const { svg = '', failure } = await draw(specify(path))
    expect(failure === undefined || failure instanceof Refusal).toBe(true)
    expect(svg).not.toContain(SECRET)
    expect(svg).not.toContain(path)
  })

  it.each(
    someOf(
      [
        `constructor.constructor('return process')().exit()`,
        `[].constructor.constructor('return process')().exit()`,
        `datum.__proto__.constructor.constructor('return process')().exit()`,
        `toString.constructor('return process')().exit()`,
        `datum['__pro' + 'to__']['constr' + 'uctor']('return process')`,
        `format.constructor('return process')()`,
        `(function(){return process})()`,
        `(() => process)()`,
        `this.process.exit()`,
        `process.exit()`,
        `globalThis.process.exit()`,
        `import('node:fs')`,
        `require('node:fs')`,
        `open('http://127.0.0.1/')`,
        `datum.b = process`,
        `new Date().constructor.constructor('return process')()`,
        `${'('.repeat(50_000)}1${')'.repeat(50_000)}`,
      ],
      2,
    ),
  )('does not get out of an expression: %.60s', long, async (expression) => {
    const { svg = '', failure } = await draw(calculate(`'' + (${expression})`))
    expect(failure === undefined || failure instanceof Refusal).toBe(true)
    expect(svg).not.toMatch(/\[object process\]|native code|function/)
  })

  it.each(
    someOf(
      [
        ['clicks', [{ name: 's', select: { type: 'point', on: 'click' } }]],
        [
          'the window',
          [
            {
              name: 's',
              select: {
                type: 'interval',
                on: '[window:mousedown, window:mouseup] > window:mousemove!',
              },
            },
          ],
        ],
        ['controls', [{ name: 'p', value: 1, bind: { input: 'range', element: 'body' } }]],
        ['a signal of an expression', [{ name: 'q', expr: `open('http://127.0.0.1/')` }]],
      ],
      2,
    ),
  )('brings no handler into the drawing: %s', long, async (_case, params) => {
    const { svg = '', failure } = await draw({ ...BAR, params })
    expect(failure === undefined || failure instanceof Refusal).toBe(true)
    expect(svg).not.toMatch(ACTIVE)
  })

  const MARKUP = `"/></text></g><script>alert(1)</script><foreignObject onload="x">'&`
  it.each(
    someOf(
      [
        ['a value', { ...BAR, data: { values: [{ a: MARKUP, b: 1 }] } }],
        ['a title', { ...BAR, title: MARKUP }],
        ['a description', { ...BAR, description: MARKUP, name: MARKUP }],
        ['a colour', { ...BAR, mark: { type: 'bar', color: MARKUP } }],
        ['the background', { ...BAR, background: MARKUP, config: { background: MARKUP } }],
        ['a font', { ...BAR, title: 'x', config: { font: MARKUP } }],
        [
          'a gradient',
          {
            ...BAR,
            mark: {
              type: 'bar',
              color: { gradient: 'linear', stops: [{ offset: 0, color: MARKUP }] },
            },
          },
        ],
        ['a shape', { data, mark: { type: 'point', shape: `M0,0${MARKUP}` } }],
        ['a blend', { ...BAR, mark: { type: 'bar', blend: MARKUP } }],
        [
          'a role',
          {
            ...BAR,
            mark: { type: 'bar', aria: true, ariaRole: MARKUP, ariaRoleDescription: MARKUP },
          },
        ],
      ],
      3,
    ),
  )('brings no markup into the drawing: %s', long, async (_case, specification) => {
    const { svg = '', failure } = await draw(specification)
    expect(failure === undefined || failure instanceof Refusal).toBe(true)
    expect(svg).not.toMatch(/<script|<foreignObject/i)
  })
})

describe('A specification without bounds', () => {
  const bombs: [string, object][] = [
    ['size', { ...BAR, width: 60_000, height: 60_000 }],
    ['steps', { ...BAR, data: { values: many(5_000) }, width: { step: 1e6 } }],
    ['rows of its own', { ...BAR, data: { sequence: { start: 0, stop: 1e9, as: 'b' } } }],
    ['a sequence in an expression', calculate('length(sequence(1e9))')],
    ['a text in an expression', calculate(`replace(pad('x', 1e9, 'x'), 'x', 'y')`)],
    [
      'a search that goes back',
      {
        ...calculate('test(/(a+)+$/, datum.a)'),
        data: { values: [{ a: `${'a'.repeat(40)}!`, b: 1 }] },
      },
    ],
    ['density', { ...BAR, transform: [{ density: 'b', steps: 1e9, extent: [0, 1] }] }],
    [
      'imputed rows',
      { ...BAR, transform: [{ impute: 'b', key: 'b', keyvals: { start: 0, stop: 1e9 } }] },
    ],
    [
      'ticks',
      {
        ...BAR,
        encoding: { x: { field: 'b', type: 'quantitative', axis: { tickCount: 1e8 } } },
      },
    ],
    [
      'facets',
      {
        data: { values: many(3_000) },
        facet: { row: { field: 'a' }, column: { field: 'b' } },
        spec: { mark: 'bar', encoding: { x: { field: 'a' } } },
      },
    ],
    [
      'repetition',
      {
        data,
        repeat: { row: many(500).map(() => 'a'), column: many(500).map(() => 'b') },
        spec: { mark: 'bar', encoding: { x: { field: { repeat: 'column' }, type: 'nominal' } } },
      },
    ],
    ['layers', { data, layer: many(50_000).map(() => ({ mark: 'bar' })) }],
  ]

  it.each(someOf(bombs, 1))(
    'is refused or ended, and takes no memory beyond its own: %s',
    long,
    async (_case, bomb) => {
      const { result, megabytes } = await peakMegabytes(draw(bomb, inItsProcess))
      expect(result.svg).toBeUndefined()
      const isContained =
        result.failure instanceof Refusal || result.failure instanceof JobExhausted
      expect(isContained).toBe(true)
      expect(megabytes).toBeLessThan(1_024)
    },
  )
})

describe('What the tool takes', () => {
  const rows = [{ a: 'x', b: 1 }]
  const asked = { mark: 'bar', rows, x: { field: 'a' }, y: { field: 'b' } }

  it.each([
    { $schema: 'http://127.0.0.1/' },
    { usermeta: {} },
    { config: { background: 'red' } },
    { transform: [{ calculate: '1', as: 'c' }] },
    { params: [] },
    { facet: { field: 'a' } },
    { repeat: ['a'] },
    { layer: [] },
    { data: { url: 'http://127.0.0.1/' } },
    { data: { sequence: { start: 0, stop: 1e9 } } },
    { datasets: {} },
    { href: { field: 'a' } },
    { url: { field: 'a' } },
    { tooltip: { content: 'data' } },
    { width: { step: 10 } },
    { height: 'container' },
    { mark: { type: 'image', url: 'http://127.0.0.1/' } },
    { mark: 'image' },
    { mark: 'geoshape' },
    { x: { field: 'a', axis: { labelExpr: 'open()' } } },
    { x: { field: 'a', scale: { range: { expr: '1' } } } },
    { x: { field: 'a', bin: { step: 1e-12 } } },
    { x: { expr: 'open()' } },
    { x: { field: { repeat: 'column' } } },
    { y: { field: 'b', aggregate: { argmax: 'a' } } },
  ])('does not have a place for %j', (more) => {
    expect(ChartRequest.safeParse(asked).success).toBe(true)
    expect(ChartRequest.safeParse({ ...asked, ...more }).success).toBe(false)
  })
})
