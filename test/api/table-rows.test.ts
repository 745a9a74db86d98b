import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { askBy } from '../support/every-way.ts'
import { sendFile } from '../support/forms.ts'
import { lastToolResult } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const COUNT = 4_000
const BOROUGHS = ['Camden', 'Hackney', 'Islington', 'Lambeth', 'Southwark']
/** A register of trees such as cities publish: one row each. */
const TREES = Array.from({ length: COUNT }, (_, n) => ({
  id: `T-${String((n * 7_919) % COUNT).padStart(5, '0')}`,
  species: n % 3 === 0 ? 'Platanus × hispanica' : 'Tilia cordata',
  borough: BOROUGHS[n % 5] ?? '',
  planted: new Date(Date.UTC(1950, 0, 1 + 7 * n)).toISOString().slice(0, 10),
  height: ((n * 13) % 300) / 10,
}))
const CSV = [
  'Tree ID,Species,Borough,Planted,Height (m),Note',
  ...TREES.map(
    ({ id, species, borough, planted, height }, n) =>
      `${id},${species},${borough},${planted},${height.toFixed(1)},"row ${n + 1}, as sent"`,
  ),
].join('\n')

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await sendFile(server, { name: 'street trees.csv', bytes: CSV })

const lookUp = (conditions: object[], more: object = {}) =>
  toolCallReply({
    name: 'lookup_data',
    arguments: { table: 'street_trees', conditions, ...more },
  })

async function resultOf(conditions: object[], more: object = {}) {
  upstream.script(lookUp(conditions, more), textReply('Done.'))
  await ask(server, 'What is there?')
  return lastToolResult(upstream)
}

describe('A row of a table', () => {
  it(
    'is found, cited as a source, and leads to its document and its place',
    verifies('lookup.rows', 'chat.citations.sources', 'chat.citations.known'),
    async () => {
      const place = TREES.findIndex(({ id }) => id === 'T-01234')
      const tree = TREES[place]
      const scripts = [
        lookUp([{ field: 'Tree ID', equals: 'T-01234' }]),
        textReply(`It was planted on ${tree?.planted} [1], says no [99].`),
      ]
      const asked = { messages: [{ role: 'user', content: 'xyzzy?' }] }
      const { answer, extras } = await askBy('/chat', { server, upstream }, scripts, asked)
      expect(lastToolResult(upstream)).toMatch(
        /^1 rows of street_trees fit, 1 follow\.\n\[1\] row \d+: "?Tree ID/,
      )
      expect(answer).toBe(`It was planted on ${tree?.planted} [1], says no [?].`)
      expect(extras.unknownCitations).toEqual([99])
      expect(extras.hits).toHaveLength(1)
      const [hit] = extras.hits
      expect(hit).toMatchObject({ title: 'street trees.csv', row: place + 1, score: 1 })
      expect(hit?.text).toContain(`Note="row ${place + 1}, as sent"`)
      const document = await server.request(`/documents/${hit?.documentId}`)
      expect(await document.json()).toMatchObject({ file: { name: 'street trees.csv' } })
    },
  )
})

describe('lookup_data over a table', verifies('lookup.rows', 'tables.filter'), () => {
  it('lists its columns', async () => {
    expect((await resultOf([])).split('\n')).toEqual([
      'The columns of street_trees (street trees.csv, 4000 rows):',
      '- Tree ID: VARCHAR',
      '- Species: VARCHAR',
      '- Borough: VARCHAR',
      '- Planted: DATE',
      '- Height (m): DECIMAL(18,1)',
      '- Note: VARCHAR',
    ])
  })

  it.each([
    [
      'a prefix',
      [{ field: 'tree id', prefix: 'T-0123' }],
      TREES.filter(({ id }) => id.startsWith('T-0123')),
    ],
    [
      'a range of days',
      [{ field: 'Planted', from: '1980-01-01', to: '1980-06-30' }],
      TREES.filter(({ planted }) => planted >= '1980-01-01' && planted <= '1980-06-30'),
    ],
    [
      'a month',
      [{ field: 'Planted', prefix: '1999-05' }],
      TREES.filter(({ planted }) => planted.startsWith('1999-05')),
    ],
    [
      'a range of numbers and a text',
      [
        { field: 'Height (m)', from: 29.5, to: 30 },
        { field: 'Borough', equals: 'Hackney' },
      ],
      TREES.filter(({ height, borough }) => height >= 29.5 && borough === 'Hackney'),
    ],
  ])('finds rows by %s', async (_case, conditions, expected) => {
    const result = await resultOf(conditions, { limit: 50 })
    expect(expected.length).toBeGreaterThan(0)
    expect(result).toMatch(new RegExp(`^${expected.length} rows of street_trees fit`))
    for (const { id } of expected) expect(result).toContain(`"${id}"`)
  })

  it.each([
    [
      'a column that is not there',
      [{ field: 'Colour', equals: 'red' }],
      /no column "Colour", only Tree ID/,
    ],
    ['a value of another kind', [{ field: 'Planted', from: 'long ago' }], /Planted is DATE/],
    ['no condition at all', [{ field: 'Planted' }], /^Invalid arguments/],
  ])('tells the model of %s', async (_case, conditions, result) => {
    expect(await resultOf(conditions)).toMatch(result)
  })

  it('sees no table outside of the filter', async () => {
    upstream.script(lookUp([{ field: 'Tree ID', equals: 'T-01234' }]), textReply('None.'))
    const { done } = await ask(server, 'What?', { filter: { field: 'secret', eq: true } })
    expect(lastToolResult(upstream)).toMatch(/^The tool failed: There is no table "street_trees"/)
    expect(done?.hits).toEqual([])
  })
})
