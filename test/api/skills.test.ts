import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentRecord, Capabilities, ToolList } from '@agent-server/schemas/agent.ts'
import { describe, expect, it } from 'vitest'
import { folderOf, plainSkill, skillText } from '../agent/skills/skill-for-test.ts'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { modelRequest, promptOf } from '../support/model-request.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer, type TestServer } from '../support/server.ts'
import { writeAgentFile } from '../support/temporary-files.ts'
import { errorReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const SHIPPED = fileURLToPath(new URL('../../skills', import.meta.url))

async function startWith(agent: object, environment: Record<string, string> = {}) {
  const upstream = await startScriptedUpstream()
  const file = await writeAgentFile(agent)
  const server = await startServer(modelAt(upstream, { AGENT_CONFIG: file, ...environment }))
  return { server, upstream, directory: dirname(file) }
}

async function skillsOf({ request }: TestServer) {
  return Capabilities.parse(await (await request('/agent/capabilities')).json()).skills
}

describe('the skills that come with the server', () => {
  it(
    'stand in the system prompt after the configured one, and are opened step by step',
    verifies('skills.catalogue', 'skills.disclosure', 'skills.local'),
    async () => {
      const { server, upstream } = await startWith({
        prompt: 'Be polite.',
        skills: { sources: [SHIPPED] },
      })
      expect((await skillsOf(server)).map(({ name, state }) => [name, state])).toEqual([
        ['briefing', 'on'],
        ['compare-documents', 'on'],
        ['timeline', 'on'],
      ])
      const told = AgentRecord.parse(await (await server.request('/agent')).json())
      expect(told.skills).toHaveLength(3)
      expect(told.skills?.[0]).toEqual({
        name: 'briefing',
        description: expect.stringMatching(/\w/),
      })

      upstream.script(
        toolCallReply({ name: 'activate_skill', arguments: { name: 'timeline' } }),
        toolCallReply({
          name: 'read_skill_resource',
          arguments: { skill: 'timeline', path: 'references/dates.md' },
        }),
        textReply('Done.'),
      )
      const { frames } = await ask(server, 'What happened when?', { includeSteps: true })
      const system = promptOf(upstream.requests[0], 'system')
      expect(system).toMatch(/Be polite\.\n\nSkills are instructions.*\n<skills>\n- briefing: /)
      expect(system).not.toContain('Collect events')
      const results = frames.flatMap(({ frame }) =>
        frame.type === 'tool-result' ? [frame.output] : [],
      )
      expect(results[0]).toContain('Collect events')
      expect(results[0]).toContain('scripts/sort_events.py')
      expect(results[1]).toContain('Writing dates')
    },
  )
})

describe('skills beside agent.json', verifies('skills.local', 'skills.catalogue'), () => {
  it('are loaded without a word in it', async () => {
    const upstream = await startScriptedUpstream()
    const directory = await folderOf({ 'agent.json': '{}' })
    await cp(join(SHIPPED, 'briefing'), join(directory, 'skills/briefing'), { recursive: true })
    const environment = { AGENT_CONFIG: join(directory, 'agent.json') }
    const server = await startServer(modelAt(upstream, environment))
    expect(await skillsOf(server)).toMatchObject([{ name: 'briefing', state: 'on' }])
  })

  it('are not told of to a model that calls no tools', async () => {
    const directory = await folderOf({ 'agent.json': '{}', 'skills/a/SKILL.md': plainSkill('a') })
    const server = await startServer({ AGENT_CONFIG: join(directory, 'agent.json') })
    const { tools } = ToolList.parse(await (await server.request('/agent/tools')).json())
    expect(tools).toContainEqual(
      expect.objectContaining({ name: 'activate_skill', source: 'skill', state: 'unavailable' }),
    )
  })
})

describe('the configuration', verifies('skills.switch', 'skills.lenient'), () => {
  it('switches skills on and off, and tells of what cannot be used', async () => {
    const folder = await folderOf({
      'a/SKILL.md': plainSkill('a'),
      'b/SKILL.md': plainSkill('b'),
      'c/SKILL.md': skillText({ name: 'Other', description: 'Does it' }),
      'd/SKILL.md': '---js\nprocess.exit(1)\n---\n',
      'e/f/SKILL.md': plainSkill('a'),
    })
    const sources = [folder, './nowhere']
    const { server, upstream } = await startWith({ skills: { sources, disabled: ['b'] } })
    expect(await skillsOf(server)).toMatchObject([
      { name: 'a', state: 'on', source: folder },
      { name: 'b', state: 'off' },
      { name: 'Other', state: 'on', warnings: [/^name: /, /folder/] },
      { name: 'a', state: 'unavailable', reason: /taken/ },
      { name: 'd', state: 'unavailable', reason: /---/, source: folder },
      { name: './nowhere', source: './nowhere', state: 'unavailable', reason: /no such folder/ },
    ])
    upstream.always(textReply('Hello.'))
    await ask(server, 'Hello?')
    expect(promptOf(upstream.requests[0], 'system')).toMatch(
      /<skills>\n- a: .*\n- Other: Does it\n<\/skills>/,
    )
  })

  it('offers no tool of skills where there is none', async () => {
    const { server, upstream } = await startWith({ skills: { sources: [] } })
    upstream.always(textReply('Hello.'))
    await ask(server, 'Hello?')
    const names = modelRequest(upstream.requests[0]).tools.map((tool) => tool.function.name)
    expect(names).not.toContain('activate_skill')
    expect(promptOf(upstream.requests[0], 'system')).not.toContain('<skills>')
  })
})

describe('a skill that names the tools it allows', () => {
  it(
    'leaves the run all others, too, as the format only allows them in advance',
    verifies('skills.allowed-tools'),
    async () => {
      const fields = { name: 'a', description: 'Does it', 'allowed-tools': 'read_skill_resource' }
      const folder = await folderOf({ 'a/SKILL.md': skillText(fields), 'a/more.md': 'More' })
      const { server, upstream } = await startWith({ skills: { sources: [folder] } })
      const search = { name: 'semantic_search', arguments: { query: 'x' } }
      upstream.script(
        toolCallReply({ name: 'activate_skill', arguments: { name: 'a' } }),
        toolCallReply(search),
        textReply('Done.'),
      )
      const { frames } = await ask(server, 'Do it', { includeSteps: true })
      expect(frames.map(({ frame }) => frame)).toContainEqual(
        expect.objectContaining({ type: 'tool-result', tool: 'semantic_search', isError: false }),
      )
    },
  )
})

it(
  'a model that is found to call no tools is told of no skills from then on',
  verifies('skills.catalogue', 'loop.no-tools'),
  async () => {
    const { server, upstream } = await startWith({ skills: { sources: [SHIPPED] } })
    const refusal = errorReply(400, 'registry.ollama.ai/library/x does not support tools')
    upstream.script(refusal, textReply('Hello.'), textReply('Hello again.'))
    await ask(server, 'Hello?')
    expect(promptOf(upstream.requests[0], 'system')).toContain('<skills>')
    await ask(server, 'Hello?')
    expect(promptOf(upstream.requests.at(-1), 'system')).not.toContain('<skills>')
  },
)
