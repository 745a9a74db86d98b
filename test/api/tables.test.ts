import { PDFDocument, rgb } from '@cantoo/pdf-lib'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { askBy } from '../support/every-way.ts'
import { sendFile } from '../support/forms.ts'
import { long, onlyLong, someOf } from '../support/long.ts'
import { lastToolResult, modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const REGIONS = ['north', 'south', 'east', 'west']
/** Sales of three years, in cents so that the test itself adds exactly. */
const SALES = Array.from({ length: 3_000 }, (_, n) => ({
  day: new Date(Date.UTC(2024, 0, 1 + (n % 1_000))).toISOString().slice(0, 10),
  region: REGIONS[(n * 7) % 4] ?? '',
  cents: ((n * 37) % 9_973) + 5,
}))
const SALES_CSV = [
  'day,region,amount',
  ...SALES.map(({ day, region, cents }) => `${day},${region},${(cents / 100).toFixed(2)}`),
].join('\n')
const MANAGERS_CSV = 'region;manager\nnorth;Ångström\nsouth;李\neast;Ólafur\nwest;O"Neil\n'

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Sales 2024.csv', text: SALES_CSV })
await server.ingest({ title: 'managers.csv', text: MANAGERS_CSV })
await server.ingest({ title: 'Notes', text: 'Not a table.' })

const call = (name: string, input: object) => toolCallReply({ name, arguments: input })

/** What the model is told by one call of a tool. */
async function resultOf(name: string, input: object): Promise<string> {
  upstream.script(call(name, input), textReply('Done.'))
  await ask(server, 'What is there?')
  return lastToolResult(upstream)
}

const sum = (sales: readonly { cents: number }[]) =>
  (sales.reduce((total, { cents }) => total + cents, 0) / 100).toFixed(2)

describe('list_tables', verifies('tables.list'), () => {
  it('lists the documents that are tables, with their columns', async () => {
    const result = await resultOf('list_tables', {})
    expect(result).toMatch(/^2 tables\./)
    expect(result).toContain(
      '- sales_2024 (Sales 2024.csv): 3000 rows; day DATE, region VARCHAR, amount DECIMAL(18,2)',
    )
    expect(result).toContain('- managers (managers.csv): 4 rows; region VARCHAR, manager VARCHAR')
  })

  it('finds some by name', async () => {
    expect(await resultOf('list_tables', { search: 'SALES' })).toMatch(/^1 tables\./)
    expect(await resultOf('list_tables', { search: 'weather' })).toBe('There are no such tables.')
  })
})

describe('describe_table', verifies('tables.list'), () => {
  it('tells ranges and first rows', async () => {
    const result = await resultOf('describe_table', { table: 'sales_2024' })
    expect(result).toMatch(/^3000 rows\./)
    expect(result).toMatch(/day,DATE,2024-01-01,2026-09-26/)
    expect(result).toMatch(/2024-01-01,north,0\.05/)
    expect(result).toMatch(/column_name,column_type,min,max,approximately_distinct,null_percentage/)
    expect(result).toMatch(/region,VARCHAR,east,west,\d,/)
  })

  it('tells of a table that is not there', async () => {
    expect(await resultOf('describe_table', { table: 'weather' })).toMatch(
      /^The tool failed: .*weather/s,
    )
  })
})

describe('query_table', () => {
  const SQL = 'SELECT sum(amount) AS total FROM sales_2024'

  it(
    'answers exactly, with the statement and the number of rows, as a source to cite',
    verifies('tables.query', 'tables.same'),
    async () => {
      const scripts = [call('query_table', { sql: SQL }), textReply('In all [1].')]
      const { answer, extras } = await askBy('/chat', { server, upstream }, scripts)
      expect(answer).toBe('In all [1].')
      expect(lastToolResult(upstream)).toContain(`Rows: 1\ntotal\n${sum(SALES)}`)
      const number = Number(/\[(\d+)\] sales_2024/.exec(lastToolResult(upstream))?.[1])
      expect(extras.hits[number - 1]).toMatchObject({
        title: 'Sales 2024.csv',
        text: expect.stringContaining(SQL),
      })
    },
  )
})

/** A table of a report over two pages, whose head the second repeats. */
async function reportOfCranes(): Promise<Uint8Array<ArrayBuffer>> {
  const pdf = await PDFDocument.create()
  for (const [number, rows] of [
    ['Lake', '12', 'Moor', '30'],
    ['Fen', '8', 'Marsh', ''],
  ].entries()) {
    const page = pdf.addPage([600, 800])
    if (number === 0) page.drawText('Cranes of 2026', { x: 60, y: 740, size: 18 })
    for (const [n, text] of ['Place', 'Cranes', ...rows].entries()) {
      const [x, y] = [60 + (n % 2) * 120, 700 - Math.floor(n / 2) * 20]
      page.drawText(text, { x, y, size: 10 })
      page.drawRectangle({
        x: x - 5,
        y: y - 6,
        width: 120,
        height: 20,
        borderWidth: 1,
        borderColor: rgb(0, 0, 0),
      })
    }
  }
  return Uint8Array.from(await pdf.save())
}

describe('A table in a PDF', verifies('tables.query'), () => {
  it('is one table over its pages, with typed columns', onlyLong, async () => {
    await sendFile(server, { name: 'cranes.pdf', bytes: await reportOfCranes() })
    expect(await resultOf('list_tables', { search: 'cranes' })).toContain(
      '- cranes (cranes.pdf): 4 rows; Place VARCHAR, Cranes BIGINT',
    )
    const sql = 'SELECT sum(Cranes) AS total, count(*) AS places FROM cranes'
    expect(await resultOf('query_table', { sql })).toContain('total,places\n50,4')
    expect(await resultOf('describe_table', { table: 'cranes' })).toContain('Cranes of 2026')
  })
})

describe('query_table', () => {
  it('groups, joins and takes ranges of days', verifies('tables.query'), async () => {
    const result = await resultOf('query_table', {
      sql: `SELECT manager, count(*) AS n, sum(amount) AS total FROM sales_2024 JOIN managers USING (region)
            WHERE day >= '2025-01-01' AND day < '2026-01-01' GROUP BY manager ORDER BY total DESC`,
    })
    const ofYear = SALES.filter(({ day }) => day.startsWith('2025'))
    const names = ['Ångström', '李', 'Ólafur', 'O"Neil']
    for (const [index, region] of REGIONS.entries()) {
      const own = ofYear.filter((sale) => sale.region === region)
      const name = names[index]?.includes('"') ? '"O""Neil"' : names[index]
      expect(result).toContain(`${name},${own.length},${sum(own)}`)
    }
    expect(result).toContain('Rows: 4\n')
  })

  it('shows as many rows as asked, and counts them all', verifies('tables.query'), async () => {
    const result = await resultOf('query_table', {
      sql: 'SELECT * FROM sales_2024',
      maximumRows: 2,
    })
    expect(result).toContain('Rows: 3000, of which the first 2 follow')
    expect(result.split('\n').slice(-3)).toHaveLength(3)
  })

  it.each(
    someOf(
      [
        `SELECT * FROM read_text('/etc/passwd')`,
        `COPY sales_2024 TO 'x.csv'`,
        'DROP VIEW sales_2024',
        `SELECT 1; SELECT 2`,
        'SELECT nothing FROM sales_2024',
      ],
      1,
    ),
  )(
    'tells the model why it is refused: %s',
    { ...long, ...verifies('tables.locked') },
    async (sql) => {
      expect(await resultOf('query_table', { sql })).toMatch(/^The tool failed: /)
    },
  )

  it('keeps to the filter of the request', verifies('tables.filter'), async () => {
    upstream.script(call('query_table', { sql: 'SELECT * FROM managers' }), textReply('None.'))
    await ask(server, 'What?', { filter: { field: 'secret', eq: true } })
    expect(lastToolResult(upstream)).toMatch(/^The tool failed: There is no table "managers"/)
  })

  it('sees a document that was replaced as it is now', {
    ...onlyLong,
    ...verifies('tables.current'),
  }, async () => {
    const put = (text: string) =>
      server.request('/documents/stock?wait=20', {
        method: 'PUT',
        body: { title: 'stock.csv', text },
      })
    await put('item,n\nbolt,1\n')
    expect(await resultOf('query_table', { sql: 'SELECT n FROM stock' })).toContain('\nn\n1')
    await put('item,n\nbolt,2\n')
    expect(await resultOf('query_table', { sql: 'SELECT n FROM stock' })).toContain('\nn\n2')
    await server.request('/documents/stock', { method: 'DELETE' })
    expect(await resultOf('query_table', { sql: 'SELECT n FROM stock' })).toMatch(
      /There is no table "stock"/,
    )
  })
})

describe('Tabular data, switched off', () => {
  it('is offered to no model', verifies('agent.tools.switch'), async () => {
    const file = await writeAgentFile({ tools: { tabular_data: false } })
    const own = await startServer(modelAt(upstream, { AGENT_CONFIG: file }))
    upstream.script(textReply('Hello.'))
    await ask(own, 'Hello?')
    const offered = modelRequest(upstream.requests.at(-1)).tools.map((tool) => tool.function.name)
    expect(offered.filter((name) => name.includes('table'))).toEqual([])
  })
})
