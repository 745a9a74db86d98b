import { existsSync } from 'node:fs'
import { SandboxProbeResult, SandboxReport } from '@agent-server/schemas/sandbox.ts'
import { describe, expect, it } from 'vitest'
import { readChat } from '../support/chat-reader.ts'
import { toolResults } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply, toolCallReply } from '../support/upstream-replies.ts'
import { hasEngine, usePythonImage } from './docker.ts'

const PROBES = SandboxProbeResult.shape.name.options.slice(1)

/** What a whole server answers whose agent.json has this section. */
async function verify(sandbox: object, environment: Record<string, string> = {}) {
  const file = await writeAgentFile({ sandbox })
  const server = await startServer({ AGENT_CONFIG: file, ...environment })
  const response = await server.request('/agent/sandbox/verify', { method: 'POST' })
  expect(response.status).toBe(200)
  return SandboxReport.parse(await response.json())
}

function expectAllOk({ ok, probes }: SandboxReport): void {
  expect(probes.filter((probe) => !probe.ok)).toEqual([])
  expect(probes.map(({ name }) => name)).toEqual(PROBES)
  expect(ok).toBe(true)
}

describe.skipIf(!existsSync('/usr/bin/bwrap'))(
  'POST /agent/sandbox/verify on bubblewrap (needs bubblewrap)',
  () => {
    it('passes every probe', async () => {
      const report = await verify({ kind: 'bubblewrap' })
      expect(report.kind).toBe('bubblewrap')
      expectAllOk(report)
    })
  },
)

describe.skipIf(!hasEngine())(
  'POST /agent/sandbox/verify on docker (needs a Docker engine)',
  () => {
    const image = usePythonImage()

    it('passes every probe', async () => {
      const host = process.env.DOCKER_HOST
      const report = await verify({ kind: 'docker', image }, host ? { DOCKER_HOST: host } : {})
      expect(report.kind).toBe('docker')
      expectAllOk(report)
    })

    it('leaves the containers of conversations alone, as a draft does', async () => {
      const upstream = await startScriptedUpstream()
      const sandbox = { kind: 'docker', image }
      const host = process.env.DOCKER_HOST
      const server = await startServer(
        modelAt(upstream, {
          AGENT_CONFIG: await writeAgentFile({ sandbox }),
          ...(host && { DOCKER_HOST: host }),
        }),
      )
      upstream.always(textReply('Done.'))
      /** What the code printed that the model has run. */
      const printed = async (path: string, code: string, more: object) => {
        upstream.script(toolCallReply({ name: 'run_python', arguments: { code } }))
        const messages = [{ role: 'user', content: 'Compute.' }]
        const { done } = await readChat(await server.request(path, { body: { messages, ...more } }))
        expect(done).toMatchObject({ finishReason: 'stop' })
        return toolResults(upstream.requests.at(-1)).join()
      }
      const conversation = { conversationId: 'sums' }
      await printed('/chat', 'kept = 41', conversation)
      const text = JSON.stringify({ sandbox, prompt: 'Be brief.' })
      await server.request('/admin/agent/sandbox/verify', { body: { text } })
      expect(await printed('/admin/agent/chat', 'print("kept" in globals())', { text })).toContain(
        'False',
      )
      expect(await printed('/chat', 'print(kept + 1)', conversation)).toContain('42')
    })
  },
)
