import { Capabilities } from '@agent-server/schemas/agent.ts'
import { DocumentCreated } from '@agent-server/schemas/document.ts'
import { SandboxProbeResult, SandboxReport } from '@agent-server/schemas/sandbox.ts'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { readChat } from '../support/chat-reader.ts'
import { failureOf } from '../support/failure.ts'
import { sendFile } from '../support/forms.ts'
import { onlyLong } from '../support/long.ts'
import { modelRequest } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'

/** Where this suite may run anything at all: the one kind that needs nothing of the machine. */
const AGENT = { sandbox: { kind: 'embedded', limits: { seconds: 20 } } }

const SUM = `import csv
with open("terns.csv", newline="") as file:
    print(sum(int(row["pairs"]) for row in csv.DictReader(file)))`

const capabilitiesOf = async (server: TestServer) =>
  Capabilities.parse(await (await server.request('/agent/capabilities')).json())

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream, { AGENT_CONFIG: await writeAgentFile(AGENT) }))

describe('run_python', () => {
  /** One question of a conversation, in which the model calls the tool with `code`, then answers. */
  async function run(conversationId: string, code: string, files: string[] = []) {
    upstream.script(
      toolCallReply({ name: 'run_python', arguments: { code, files } }),
      textReply('Done.'),
    )
    const messages = [{ role: 'user', content: 'Compute.' }]
    const body = { conversationId, messages, includeSteps: true }
    const { frames, done } = await readChat(await server.request('/chat', { body }))
    const result = frames.map(({ frame }) => frame).find(({ type }) => type === 'tool-result')
    return { output: result && 'output' in result ? String(result.output) : '', done }
  }

  it(
    'computes, and keeps variables and files for the conversation and no other',
    verifies('sandbox.tool', 'sandbox.conversation'),
    async () => {
      expect((await run('one', 'x = 6 * 7\nx')).output).toContain('Output:\n42\n')
      expect((await run('one', 'x + 1')).output).toContain('Output:\n43\n')
      expect((await run('two', 'x')).output).toContain('NameError')
    },
  )

  it('makes artifacts of files that code writes, and gives them to code again', {
    ...onlyLong,
    ...verifies('sandbox.artifacts'),
  }, async () => {
    const { done, output } = await run('three', 'open("table.csv", "w").write("a,b\\n1,2\\n")')
    const [artifact] = done?.artifacts ?? []
    expect(artifact).toMatchObject({ name: 'table.csv', mediaType: 'text/csv', size: 8 })
    expect(output).toContain(artifact?.id)
    const read = await server.request(artifact?.url ?? '')
    expect(await read.text()).toBe('a,b\n1,2\n')
    const again = await run('four', 'print(open("table.csv").read())', [artifact?.id ?? ''])
    expect(again.output).toContain('Output:\na,b\n1,2\n')
  })

  it(
    'finds the file of an uploaded document, and computes with it',
    verifies('sandbox.documents'),
    async () => {
      const bytes = Buffer.from('colony,pairs\nFarne,1200\nInner,34\nOuter,8\n')
      const sent = await sendFile(server, { name: 'terns.csv', bytes })
      const { id } = DocumentCreated.parse(await sent.json())
      const { output } = await run('six', SUM, [id])
      expect(output).toContain('Files put in: terns.csv')
      expect(output).toContain('Output:\n1242\n')
    },
  )

  it('tells the model what is wrong with the files that it names', async () => {
    expect((await run('five', '1', ['doc_unknown'])).output).toContain('no document "doc_unknown"')
  })
})

describe('POST /agent/sandbox/verify', () => {
  it('tries what the sandbox must do and must prevent, and the last report is shown', {
    ...onlyLong,
    ...verifies('sandbox.verify', 'sandbox.verify.shown'),
  }, async () => {
    const server = await startServer({ AGENT_CONFIG: await writeAgentFile(AGENT) })
    const before = await capabilitiesOf(server)
    expect(before.sandbox).toMatchObject({ kind: 'embedded', state: 'on' })
    expect(before.sandbox.verified).toBeUndefined()

    const response = await server.request('/agent/sandbox/verify', { method: 'POST' })
    const report = SandboxReport.parse(await response.json())
    expect(report).toMatchObject({ kind: 'embedded', ok: true })
    expect(report.probes.map(({ name, ok }) => [name, ok])).toEqual(
      SandboxProbeResult.shape.name.options.slice(1).map((name) => [name, true]),
    )
    expect((await capabilitiesOf(server)).sandbox.verified).toEqual(report)
  })

  it(
    'names the remedy where the sandbox that is configured does not work',
    verifies('sandbox.reason'),
    async () => {
      const interpreter = { path: 'nothing.wasm', sha256: '0'.repeat(64) }
      const file = await writeAgentFile({ sandbox: { kind: 'embedded', interpreter } })
      const server = await startServer({ AGENT_CONFIG: file })
      const { sandbox } = await capabilitiesOf(server)
      expect(sandbox).toMatchObject({ kind: 'embedded', state: 'unavailable' })
      expect(sandbox.reason).toContain('nothing.wasm')
      const failure = await failureOf(
        await server.request('/agent/sandbox/verify', { method: 'POST' }),
      )
      expect(failure).toMatchObject({ status: 503, code: 'sandbox_unavailable' })
      expect(failure.message).toContain('nothing.wasm')
    },
  )

  it('answers 503 where the sandbox is switched off', verifies('sandbox.off'), async () => {
    const upstream = await startScriptedUpstream()
    upstream.always(textReply('Hello.'))
    const file = await writeAgentFile({ sandbox: 'none' })
    const server = await startServer(modelAt(upstream, { AGENT_CONFIG: file }))
    const response = await server.request('/agent/sandbox/verify', { method: 'POST' })
    expect(await failureOf(response)).toMatchObject({ status: 503, code: 'sandbox_unavailable' })
    expect((await capabilitiesOf(server)).sandbox).toMatchObject({ kind: 'none', state: 'off' })
    await server.request('/chat', { body: { messages: [{ role: 'user', content: 'Hello?' }] } })
    const offered = modelRequest(upstream.requests.at(-1)).tools
    expect(JSON.stringify(offered)).not.toContain('run_python')
  })
})
