import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { askBy } from '../support/every-way.ts'
import { long, someOf } from '../support/long.ts'
import { lastToolResult } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const CSV = 'month,visits\n2026-01,120\n2026-02,90\n2026-03,150\n'
const x = { field: 'month', type: 'ordinal' }
const y = { field: 'visits' }

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'visits.csv', text: CSV })

describe('A chart', () => {
  it(
    'comes as picture, drawing and specification, which the answer lists and the key opens',
    verifies('charts.files', 'artifacts.told', 'artifacts.read'),
    async () => {
      const input = { title: 'Visits 2026', mark: 'bar', x, y, sql: 'SELECT * FROM visits' }
      const scripts = [toolCallReply({ name: 'make_chart', arguments: input }), textReply('Here.')]
      const { answer, extras } = await askBy('/chat', { server, upstream }, scripts)
      expect(answer).toBe('Here.')
      expect(extras.artifacts?.map(({ name, mediaType }) => [name, mediaType])).toEqual([
        ['Visits-2026.png', 'image/png'],
        ['Visits-2026.svg', 'image/svg+xml'],
        ['Visits-2026.vl.json', 'application/json'],
      ])
      const [png, svg, specification] = await Promise.all(
        (extras.artifacts ?? []).map(async ({ url, size }) => {
          const bytes = Buffer.from(await (await server.request(url)).arrayBuffer())
          expect(bytes).toHaveLength(size)
          return bytes
        }),
      )
      expect(png?.subarray(1, 4).toString()).toBe('PNG')
      expect(svg?.toString()).toContain('Visits 2026')
      expect(JSON.parse(specification?.toString() ?? '')).toMatchObject({
        mark: { type: 'bar' },
        data: { values: [{ month: '2026-01', visits: 120 }, {}, {}] },
      })
      expect(lastToolResult(upstream)).toMatch(/Sources to cite:\n\[\d+\] visits: visits\.csv/)
      expect(extras.hits.some(({ title }) => title === 'visits.csv')).toBe(true)
    },
  )
})

describe('make_chart', () => {
  it.each(
    someOf(
      [
        [
          'an address as its data',
          { mark: 'bar', x, data: { url: 'http://127.0.0.1/' } },
          /Invalid/,
        ],
        [
          'a column that is not there',
          { mark: 'bar', x, rows: [{ a: 1 }] },
          /no column "month", only a/,
        ],
        ['a statement that fails', { mark: 'bar', x, sql: 'SELECT * FROM nothing' }, /nothing/],
        [
          'a statement without rows',
          { mark: 'bar', x, sql: 'SELECT 1 AS month WHERE false' },
          /no rows/,
        ],
      ],
      2,
    ),
  )(
    'tells the model what is wrong with %s',
    { ...long, ...verifies('charts.refused') },
    async (_c, input, expected) => {
      upstream.script(toolCallReply({ name: 'make_chart', arguments: input }), textReply('No.'))
      const { done } = await ask(server, 'Draw.')
      expect(lastToolResult(upstream)).toMatch(expected)
      expect(done).not.toHaveProperty('artifacts')
    },
  )
})
