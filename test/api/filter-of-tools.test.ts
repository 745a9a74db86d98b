import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ToolList } from '../../src/schemas/agent.ts'
import { verifies } from '../requirements.ts'
import { askBy } from '../support/every-way.ts'
import { sendFile } from '../support/forms.ts'
import { modelRequest } from '../support/model-request.ts'
import { type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

const ASKED = {
  messages: [{ role: 'user', content: 'What does the blueprint say?' }],
  filter: { field: 'team', eq: 'red' },
}
/** Nowhere but in documents that the filter excludes. */
const SECRET = /quagga|7781/i

/** What would show the excluded documents, by each built-in tool. */
const CASES: Record<string, object[]> = {
  semantic_search: [{ query: 'blueprint' }],
  read_document: [{ document: 'secret-form' }],
  list_tables: [{}, { search: 'blue' }],
  describe_table: [{ table: 'blueprint' }],
  query_table: [{ sql: 'SELECT * FROM blueprint' }],
  lookup_data: [
    {},
    { conditions: [{ field: 'codename', prefix: 'q' }] },
    { table: 'blueprint' },
    { table: 'blueprint', conditions: [{ field: 'cost', equals: 1 }] },
  ],
  make_chart: [{ mark: 'bar', x: { field: 'cost' }, sql: 'SELECT * FROM blueprint' }],
  analyse_corpus: [
    ...['count', 'list', 'terms', 'duplicates'].map((task) => ({ task })),
    { task: 'values', field: 'codename' },
    { task: 'timeline', field: 'day', per: 'year' },
    { task: 'question', question: 'What is there?' },
    { task: 'list', filter: { or: [{ field: 'team', eq: 'blue' }] } },
  ],
  fill_form: [{ documentId: 'secret-form' }],
  run_python: [{ code: '1', files: ['secret-form'] }],
}

let upstream: ScriptedUpstream
let server: TestServer

beforeAll(async () => {
  upstream = await startScriptedUpstream()
  const directory = await mkdtemp(join(tmpdir(), 'agent-server-'))
  await writeFile(join(directory, 'agent.json'), '{ "sandbox": "embedded" }')
  server = await startServer(modelAt(upstream, { DATA_DIR: directory }))
  const blue = { team: 'blue', codename: 'quagga', day: '7781-01-01' }
  await server.ingest({ title: 'Red', text: 'Owls hoot.', metadata: { team: 'red' } })
  await server.request('/documents/secret-form?wait=20', {
    ...{
      method: 'PUT',
      body: { title: 'Form', text: '{{quagga}} of the blueprint', metadata: blue },
    },
  })
  for (const title of ['Quagga', 'Quagga too']) {
    await server.ingest({ title, text: 'The blueprint says quagga.', metadata: blue })
  }
  const table = { name: 'blueprint.csv', bytes: 'quagga,cost\n7781,1\n' }
  await sendFile(server, { ...table, before: { metadata: JSON.stringify(blue) } })
  return async () => {
    await server.close()
    await upstream.close()
    await rm(directory, { recursive: true })
  }
})

describe('A document that the filter of a request excludes', () => {
  it('is asked of every built-in tool here', verifies('tools.filter'), async () => {
    const { tools } = ToolList.parse(await (await server.request('/agent/tools')).json())
    const builtIn = tools.filter(({ source }) => source === 'builtin').map(({ name }) => name)
    expect(builtIn.toSorted()).toEqual(Object.keys(CASES).toSorted())
  })

  it.each(
    Object.entries(CASES).flatMap(([name, inputs]) =>
      inputs.map((input) => [name, JSON.stringify(input)] as const),
    ),
  )('is not shown by %s with %s', verifies('tools.filter'), async (name, input) => {
    upstream.always(textReply('NOTHING'))
    const before = upstream.requests.length
    const scripts = [toolCallReply({ name, arguments: JSON.parse(input) })]
    const { extras } = await askBy('/chat', { server, upstream }, scripts, ASKED)
    const sent = upstream.requests.slice(before).map((request) => modelRequest(request).messages)
    expect(sent.flat().some(({ role }) => role === 'tool')).toBe(true)
    expect(JSON.stringify(sent)).not.toMatch(SECRET)
    expect(JSON.stringify(extras.hits)).not.toMatch(SECRET)
    expect(extras).not.toHaveProperty('artifacts')
  })
})
