import { writeFile } from 'node:fs/promises'
import { SandboxLimits } from '@agent-server/sandboxes'
import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { modelRequest, promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { textReply } from '../support/upstream-replies.ts'

const read = async ({ request }: TestServer, path: string) => (await request(path)).json()

/** Without a configuration and with a model that calls no tools. */
const plain = await startServer()

const AGENT = {
  name: 'librarian',
  description: 'Knows the library.',
  prompt: 'Be polite.',
}

describe('GET /agent', verifies('endpoint.agent', 'agent.record', 'agent.shape'), () => {
  it('reads name, profile and loaded tools', async () => {
    const upstream = await startScriptedUpstream()
    const file = await writeAgentFile(AGENT)
    const server = await startServer(modelAt(upstream, { AGENT_CONFIG: file }))
    expect(await read(server, '/agent')).toEqual({
      name: 'librarian',
      profile: {
        description: 'Knows the library.',
        model: 'scripted',
        retrieval: 'lexical',
        images: true,
      },
      tools: expect.arrayContaining([{ name: 'semantic_search', source: 'builtin' }]),
    })
    expect(await read(server, '/v1/models')).toMatchObject({
      data: [{ id: 'librarian' }, { id: 'librarian-plain' }],
    })
  })

  it('has the defaults where there is no configuration, and no tool that the model cannot call', async () => {
    expect(await read(plain, '/agent')).toEqual({
      name: 'agent',
      profile: {
        description: 'Answers questions from the ingested documents.',
        model: 'extractive',
        retrieval: 'lexical',
        images: false,
      },
      tools: [],
    })
  })
})

describe('GET /agent/tools', () => {
  it(
    'lists every loaded tool with its schema and state',
    verifies('endpoint.agent-tools', 'agent.tools.shape'),
    async () => {
      const server = await startServer(modelAt(await startScriptedUpstream()))
      expect(await read(server, '/agent/tools')).toEqual({
        tools: expect.arrayContaining([
          {
            name: 'semantic_search',
            title: 'Semantic search',
            description: expect.stringMatching(/^Search the documents/),
            inputSchema: expect.objectContaining({
              type: 'object',
              required: ['query'],
              properties: expect.objectContaining({ query: expect.anything() }),
            }),
            source: 'builtin',
            switch: 'semantic_search',
            state: 'on',
          },
        ]),
      })
    },
  )

  it(
    'says why a tool is unavailable with a model that calls none',
    verifies('agent.tools.shape'),
    async () => {
      expect(await read(plain, '/agent/tools')).toMatchObject({
        tools: expect.arrayContaining([
          expect.objectContaining({
            name: 'semantic_search',
            state: 'unavailable',
            reason: expect.any(String),
          }),
        ]),
      })
    },
  )

  it(
    'shows a tool that is switched off as off, and the model is not offered it',
    verifies('agent.tools.switch'),
    async () => {
      const upstream = await startScriptedUpstream()
      upstream.always(textReply('Hello.'))
      const file = await writeAgentFile({ tools: { semantic_search: false } })
      const server = await startServer(modelAt(upstream, { AGENT_CONFIG: file }))
      expect(await read(server, '/agent/tools')).toMatchObject({
        tools: expect.arrayContaining([
          expect.objectContaining({ name: 'semantic_search', state: 'off' }),
        ]),
      })
      expect(JSON.stringify(await read(server, '/agent'))).not.toContain('semantic_search')
      await ask(server, 'Hello?')
      const offered = modelRequest(upstream.requests.at(-1)).tools
      expect(offered.map((tool) => tool.function.name)).not.toContain('semantic_search')
    },
  )
})

describe('GET /agent/capabilities', () => {
  it(
    'lists skills, sandbox, MCP connections and plugins, and says that retrieval is lexical',
    verifies('endpoint.agent-capabilities', 'agent.capabilities', 'agent.capabilities.true'),
    async () => {
      expect(await read(plain, '/agent/capabilities')).toEqual({
        skills: [],
        // Which one it is depends on the machine.
        sandbox: { kind: expect.any(String), state: 'on', limits: SandboxLimits.parse({}) },
        mcp: [],
        plugins: [],
        chat: { model: 'extractive', tools: false, images: false, window: 32_768 },
        retrieval: 'lexical',
        embedder: { state: 'off', reason: 'Search is lexical only: EMBEDDING_MODEL is none' },
        reranker: { state: 'off', reason: 'RERANK_MODEL is not set' },
        restartRequired: false,
      })
    },
  )

  it(
    'says that a restart is required while the configuration on disk is another, which changes nothing yet',
    verifies('agent.restart', 'agent.capabilities.restart'),
    async () => {
      const upstream = await startScriptedUpstream()
      upstream.always(textReply('Hello.'))
      const file = await writeAgentFile(AGENT)
      const environment = modelAt(upstream, { AGENT_CONFIG: file })
      const running = await startServer(environment)

      await writeFile(file, JSON.stringify({ ...AGENT, prompt: 'Be rude.' }))
      expect(await read(running, '/agent/capabilities')).toMatchObject({ restartRequired: true })
      await ask(running, 'Hello?')
      expect(promptOf(upstream.requests.at(-1), 'system')).toMatch(/Be polite\.$/)

      const restarted = await startServer(environment)
      expect(await read(restarted, '/agent/capabilities')).toMatchObject({ restartRequired: false })
      await ask(restarted, 'Hello?')
      expect(promptOf(upstream.requests.at(-1), 'system')).toMatch(/Be rude\.$/)

      await writeFile(file, JSON.stringify(AGENT))
      expect(await read(running, '/agent/capabilities')).toMatchObject({ restartRequired: false })
    },
  )

  it(
    'notices a configuration that appears after the start',
    verifies('agent.capabilities.restart'),
    async () => {
      const file = await writeAgentFile({})
      const server = await startServer({ AGENT_CONFIG: `${file}.later` })
      expect(await read(server, '/agent/capabilities')).toMatchObject({ restartRequired: false })
      await writeFile(`${file}.later`, JSON.stringify(AGENT))
      expect(await read(server, '/agent/capabilities')).toMatchObject({ restartRequired: true })
    },
  )
})
