import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runJob } from '@agent-server/lib/processes/child-process.ts'
import { JobExhausted } from '@agent-server/lib/processes/job.ts'
import { Refusal } from '@agent-server/lib/refusal.ts'
import { beforeAll, describe, expect, it } from 'vitest'
import { long, onlyLong, someOf } from '../../../test/support/long.ts'
import { peakMegabytes } from '../../../test/support/peak-megabytes.ts'
import { runJobHere } from '../../../test/support/run-job.ts'
import { temporaryDirectory } from '../../../test/support/temporary-files.ts'
import { zipFile } from '../../../test/support/zip-file.ts'
import { QUERY } from '../src/create-tables.ts'
import { CONVERSION } from '../src/table-files.ts'
import { Converted, QueryResult, type TableFormat } from '../src/table-job.ts'

const { signal } = new AbortController()

async function convert(
  content: string | Uint8Array,
  format: TableFormat = 'csv',
  directory?: string,
) {
  directory ??= await temporaryDirectory()
  const [source, target] = [join(directory, 'source'), join(directory, 'tables.duckdb')]
  await writeFile(source, content)
  const job = { source, target, format }
  const { sheets } = Converted.parse(await runJobHere({ ...CONVERSION, directory }, job))
  const query = async (
    sql: string,
    { maximumRows = 100, inItsProcess = false, deadlineMs = 30_000 } = {},
  ) => {
    const views = sheets.map(({ table }, index) => ({
      name: index === 0 ? 'data' : `data${index}`,
      file: target,
      table,
    }))
    const asked = { views, sql, maximumRows, isTrusted: false }
    const answer = inItsProcess
      ? runJob({ ...QUERY, deadlineMs }, asked, signal)
      : runJobHere(QUERY, asked)
    return QueryResult.parse(await answer)
  }
  return { sheets, query, directory }
}

const SALES = 'region,amount,day,paid\nnorth,0.1,2026-01-02,true\nsouth,0.2,2026-02-03,false\n'

describe('a table', () => {
  it('has the types of its columns, and amounts of money are decimal', async () => {
    const { sheets } = await convert(SALES)
    expect(sheets).toEqual([
      {
        name: '',
        table: 'table0',
        rows: 2,
        columns: [
          { name: 'region', type: 'VARCHAR' },
          { name: 'amount', type: 'DECIMAL(18,1)' },
          { name: 'day', type: 'DATE' },
          { name: 'paid', type: 'BOOLEAN' },
        ],
      },
    ])
  })

  it('is summed exactly, where binary fractions are not', async () => {
    const { query } = await convert(SALES)
    const { columns, rows, rowCount } = await query('SELECT sum(amount) AS total FROM data')
    expect({ columns, rows, rowCount }).toEqual({
      columns: [{ name: 'total', type: 'DECIMAL(38,1)' }],
      rows: [['0.3']],
      rowCount: 1,
    })
  })

  it('answers days, ranges and groups as they are', async () => {
    const { query } = await convert(SALES)
    const sql = `SELECT region, day, paid FROM data WHERE day BETWEEN '2026-02-01' AND '2026-02-28'`
    expect((await query(sql)).rows).toEqual([['south', '2026-02-03', false]])
  })

  it.each<[TableFormat, string]>([
    ['tsv', 'a\tb\n1\tx\n2\ty\n'],
    ['jsonl', '{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n'],
    ['csv', 'a;b\n1;x\n2;y\n'],
    ['csv', '\ufeffa,b\r\n1,"x"\r\n2,y\r\n'],
  ])('is read from %s: %j', async (format, content) => {
    const { query } = await convert(content, format)
    expect((await query('SELECT a, b FROM data ORDER BY a')).rows).toEqual([
      [expect.toSatisfy((value) => Number(value) === 1), 'x'],
      [expect.toSatisfy((value) => Number(value) === 2), 'y'],
    ])
  })

  it.each([
    ['a text with tabs', 'a\tb\n1\tx\n2\ty\n'],
    ['a page', '<html><p>Quays</p><table><tr><th>a<th>b<tr><td>1<td>x<tr><td>2<td>y</table>'],
    [
      'XML of 2003',
      `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="S"><Table>${[
        ['a', 'b'],
        ['1', 'x'],
        ['2', 'y'],
      ]
        .map(
          (row) =>
            `<Row>${row.map((cell) => `<Cell><Data ss:Type="String">${cell}</Data></Cell>`).join('')}</Row>`,
        )
        .join('')}</Table></Worksheet></Workbook>`,
    ],
  ])('is read from what is only called a workbook: %s', async (_case, content) => {
    const { query } = await convert(content, 'xlsx')
    expect((await query('SELECT b FROM data ORDER BY a')).rows).toEqual([['x'], ['y']])
  })

  it('of versions and sections keeps their last 0', async () => {
    const { query } = await convert('section,fee\n3.1,1.10\n3.9,1.90\n3.10,2.25\n')
    expect((await query('SELECT section FROM data WHERE fee > 2')).rows).toEqual([['3.10']])
  })

  it('of rows of many lengths is text, filled up', async () => {
    const { query, sheets } = await convert('a,b,c\n1,2,3\nx\n4,5,6\n')
    expect(sheets[0]?.rows).toBe(3)
    expect((await query('SELECT count(*) AS n FROM data WHERE b IS NULL')).rowCount).toBe(1)
  })

  it.each<[string, TableFormat]>([
    ['nothing', 'parquet'],
    ['{"a":', 'jsonl'],
    ['PK but no workbook', 'xlsx'],
    ['%PDF-1.7 but no workbook', 'xlsx'],
    ['\u0001\u0002 but no workbook', 'xlsx'],
  ])('is refused where the file is none: %s as %s', async (content, format) => {
    await expect(convert(content, format)).rejects.toThrow()
  })

  it('is read from no workbook that begins as something else, or unpacks to too much', async () => {
    const large = { content: '<x/>', claimedSize: 90_000_000 }
    const bomb = zipFile(['xl/workbook.xml', 'a'].map((name) => ({ name, ...large })))
    const disguised = Buffer.concat([Buffer.from('Only text.'), bomb])
    await expect(convert(disguised, 'xlsx')).rejects.toThrow('not a workbook')
    await expect(convert(bomb, 'xlsx')).rejects.toThrow('unpacked file is too large')
  })

  it('that is long is shown up to the cap, and counted whole', onlyLong, async () => {
    const lines = Array.from({ length: 5_000 }, (_, n) => `${n}`)
    const { query } = await convert(`n\n${lines.join('\n')}\n`)
    const { rows, rowCount, isMore } = await query('SELECT * FROM data', { maximumRows: 7 })
    expect(rows).toHaveLength(7)
    expect({ rowCount, isMore }).toEqual({ rowCount: 5_000, isMore: false })
  })

  it('that ends with the last row that is counted has no more', async () => {
    const { query } = await convert(SALES)
    const counted = async (rows: number) => {
      const { rowCount, isMore } = await query(`SELECT 1 FROM range(${rows})`, { maximumRows: 1 })
      return { rowCount, isMore }
    }
    expect(await counted(1_000_000)).toEqual({ rowCount: 1_000_000, isMore: false })
    expect(await counted(1_100_000)).toMatchObject({ isMore: true })
  })

  it('shows the beginning of a cell that is too long', onlyLong, async () => {
    const { query } = await convert(SALES)
    const { rows } = await query(`SELECT repeat('x', 100000) AS x`)
    expect(rows[0]?.[0]).toHaveLength(1_001)
  })
})

describe('a statement', () => {
  let sales: Awaited<ReturnType<typeof convert>>
  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
    sales = await convert(SALES, 'csv', directory)
    return () => rm(directory, { recursive: true })
  })

  it.each(
    someOf(
      [
        ['two at once', 'SELECT 1; SELECT 2'],
        ['none', ''],
        ['a comment', '-- nothing'],
        ['an insertion', `INSERT INTO data VALUES ('x', 1, '2026-01-01', true)`],
        ['an insertion past the view', `INSERT INTO file0.main.table0 SELECT * FROM data`],
        ['a deletion', 'DELETE FROM file0.main.table0'],
        ['a new table', 'CREATE TABLE x AS SELECT 1'],
        ['a removal', 'DROP VIEW data'],
        ['a copy to a file', `COPY data TO 'stolen.csv'`],
        ['an export', `EXPORT DATABASE 'stolen'`],
        ['a file', `SELECT * FROM read_csv('/etc/passwd')`],
        ['a file as text', `SELECT * FROM read_text('/etc/passwd')`],
        ['a file by its name', `SELECT * FROM '/etc/hosts.csv'`],
        ['a directory', `SELECT * FROM glob('/*')`],
        ['a page', `SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')`],
        ['another database', `ATTACH 'x.duckdb' AS x`],
        ['an extension', 'INSTALL httpfs'],
        ['a loaded extension', 'LOAD httpfs'],
        ['a setting', "SET memory_limit = '10GB'"],
        ['a pragma', 'PRAGMA database_list'],
        ['a reset', 'RESET ALL'],
        ['the settings', 'SELECT * FROM duckdb_settings()'],
        ['the paths', 'SELECT * FROM duckdb_databases()'],
        ['a view of the settings', 'SELECT * FROM duckdb_settings'],
        ['the catalogue', 'SELECT * FROM information_schema.tables'],
        ['a setting by a name in quotes', `SELECT "current_setting"('memory_limit')`],
        ['an environment', `SELECT getenv('HOME')`],
        ['a plan that is run', 'EXPLAIN ANALYZE SELECT 1'],
        ['a call', 'CALL pragma_version()'],
        ['a column that is not there', 'SELECT nothing FROM data'],
        ['a table that is not there', 'SELECT * FROM nothing'],
      ],
      12,
    ),
  )('is refused in words: %s', long, async (_case, sql) => {
    const { query, directory } = sales
    const refused = await query(sql).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Refusal)
    expect(String(refused)).not.toContain(directory)
  })

  it.each([
    `SELECT * FROM query('SELECT * FROM duckdb' || '_settings()')`,
    `SELECT * FROM query_table('duckdb' || '_settings')`,
    `SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))`,
    `SELECT (SELECT count(*) FROM query('SELECT 1')) FROM data`,
    `WITH x AS MATERIALIZED (FROM query('SELECT 1')) SELECT * FROM x`,
  ])('cannot hide another statement in a text: %s', async (sql) => {
    await expect(sales.query(sql)).rejects.toThrow(/^The function \w+ cannot be called$/)
  })

  it('may read what it defines itself, and functions that give rows', async () => {
    const sql = `WITH Own AS (SELECT 'pragma query(' AS a) SELECT a, r.range FROM own, range(2) r`
    expect((await sales.query(sql)).rowCount).toBe(2)
  })

  it('that takes all memory is refused', onlyLong, async () => {
    const { query } = sales
    const bomb = "SELECT list(repeat('x', 1000) || a) FROM range(100000000) t(a)"
    await expect(query(bomb, { inItsProcess: true })).rejects.toThrow(/memory/i)
  })

  it.each([
    `SELECT length(repeat(repeat('x', 20000000), 60))`,
    `SELECT length(repeat(repeat('x', 100000000), 40))`,
    `SELECT length(list_aggregate(list_transform(range(60), x -> repeat('x', 90000000)), 'string_agg', ''))`,
  ])('that takes memory which the engine does not count is refused: %s', onlyLong, async (bomb) => {
    const { result, megabytes } = await peakMegabytes(
      sales.query(bomb, { inItsProcess: true }).catch(String),
    )
    expect(result).toMatch(/memory/i)
    expect(megabytes).toBeLessThan(QUERY.residentMegabytes)
  })

  it('that never ends is ended', async () => {
    const { query } = sales
    const bomb =
      'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1'
    await expect(query(bomb, { inItsProcess: true, deadlineMs: 700 })).rejects.toThrow(JobExhausted)
  })

  it('ends when the caller leaves', async () => {
    const leaving = new AbortController()
    const reason = new Error('the caller left')
    setTimeout(() => leaving.abort(reason), 300)
    const job = {
      views: [],
      maximumRows: 1,
      isTrusted: false,
      sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1',
    }
    const asked = runJob(QUERY, job, leaving.signal)
    await expect(asked).rejects.toBe(reason)
  })
})
