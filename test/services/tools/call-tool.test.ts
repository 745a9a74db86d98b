import { describe, expect, it } from 'vitest'
import { JobExhausted, JobRefusal } from '../../../src/lib/processes/job.ts'
import { callTool, parseCall } from '../../../src/services/tools/registry.ts'
import { citeTables } from '../../../src/services/tools/table-tools.ts'
import { ToolFailure } from '../../../src/services/tools/tool-error.ts'
import { toolAnswering } from '../agent/agent-for-test.ts'
import { toolCall } from '../agent/scripted-model.ts'
import { documentOf } from '../tables/stored-table.ts'
import { createContext } from './context-for-test.ts'

const { signal } = new AbortController()
const options = () => ({
  context: createContext(),
  deadlineMs: 1_000,
  log: { warn: () => undefined, error: () => undefined },
})

describe('A call of a tool', () => {
  it('that fails as foreseen tells the model why', async () => {
    const tool = toolAnswering('look', () => Promise.reject(new ToolFailure('It is dark')))
    expect(await callTool(tool, parseCall(toolCall('look')), options(), signal)).toEqual({
      output: 'The tool failed: It is dark',
      isError: true,
    })
  })

  it('that fails for want of memory or time leaves the cause in the log', async () => {
    const cause = new Error('FATAL ERROR: JavaScript heap out of memory')
    const tool = toolAnswering('look', () =>
      Promise.reject(new JobExhausted('Too large', { cause })),
    )
    const logged: object[] = []
    const log = { ...options().log, warn: (fields: object) => void logged.push(fields) }
    await callTool(tool, parseCall(toolCall('look')), { ...options(), log }, signal)
    expect(logged).toEqual([{ err: cause, tool: 'look' }])
  })

  it('is told as it is where it goes well', async () => {
    const answered = await callTool(
      toolAnswering('look', 'A door'),
      parseCall(toolCall('look')),
      options(),
      signal,
    )
    expect(answered).toEqual({ output: 'A door', isError: false })
  })
})

describe('Arguments', () => {
  it.each([
    ['{"a":1}', { input: { a: 1 } }],
    ['', { input: {} }],
    ['{"a":', { input: '{"a":', mistake: expect.stringContaining('not valid JSON') }],
  ])('%j are read as %j', (text, parsed) => {
    const call = { callId: 'c', name: 'look' }
    expect(parseCall({ ...call, arguments: text })).toEqual({ ...call, ...parsed })
  })
})

describe('What a job refuses', () => {
  it('is a failure that the model is told', async () => {
    const tool = toolAnswering('look', () => Promise.reject(new JobRefusal('No table')))
    expect(await callTool(tool, parseCall(toolCall('look')), options(), signal)).toEqual({
      output: 'The tool failed: No table',
      isError: true,
    })
  })

  it('is not to be taken for a fault of ours', async () => {
    const tool = toolAnswering('look', () => Promise.reject(new Error('broken')))
    const { output } = await callTool(tool, parseCall(toolCall('look')), options(), signal)
    expect(output).toMatch(/in the log of the server/)
  })
})

describe('A table as a source', () => {
  const document = {
    ...documentOf({ id: 'doc', title: 'Sales.csv', content: '' }),
    ...{ url: 'https://example.org/sales', metadata: { year: 2026 } },
  }
  const table = {
    name: 'sales',
    title: 'Sales.csv',
    table: 't',
    sheet: '',
    file: 'x',
    rows: 3,
    columns: [],
    document,
  }

  it('is numbered after what was found before, with address and metadata of its document', () => {
    const { citations } = createContext()
    const answer = { tables: [table], rowCount: 3 }
    expect(citeTables(answer, 'SELECT 1', citations)).toBe(
      `Sources to cite:\n${citations.key} [1] sales: Sales.csv`,
    )
    expect(citations.all()).toEqual([
      {
        ...{ id: 'doc-table-sales-SELECT 1', score: 1, title: 'Sales.csv', documentId: 'doc' },
        ...{ url: 'https://example.org/sales', metadata: { year: 2026 }, start: 0, end: 0 },
        text: 'Table sales, asked with SELECT 1: 3 rows',
      },
    ])
  })
})
