import { expect, it } from 'vitest'
import { z } from 'zod'
import { createPauses } from '../../../src/agent/run/pause.ts'
import { defineTool, type ToolContext } from '../../../src/agent/tools/define-tool.ts'
import { createMemoryArtifactStore } from '../tools/memory-artifact-store.ts'
import { createAgentForTest, endOf, question } from './agent-for-test.ts'
import { asks, says, toolCall } from './scripted-model.ts'

it('A stopped run that has gathered more than the server keeps is told, not kept', async () => {
  const store = createMemoryArtifactStore({ maximumBytes: 200_000 })
  const pauses = createPauses(store, async () => new Set())
  const request = question('Why?')
  const runOf = (content: string) => ({
    sessionId: 'c',
    hits: [],
    chunks: 0,
    artifacts: [],
    activeSkills: [],
    degraded: false,
    spent: { rounds: 1, calls: 1, tokens: 0 },
    added: [{ role: 'user' as const, content }],
  })
  const fits = runOf('a'.repeat(100_000))
  expect(await pauses.open(await pauses.keep(fits, request), request)).toEqual(fits)
  const kept = pauses.keep(runOf('a'.repeat(200_000)), request)
  await expect(kept).rejects.toMatchObject({ code: 'invalid_request' })
})

it('A run that goes on after it was stopped has the skills that it had activated', async () => {
  const seen: string[][] = []
  const toolThat = (name: string, use: (context: ToolContext) => void, approval = {}) =>
    defineTool({
      name,
      title: name,
      description: name,
      input: z.looseObject({}),
      ...approval,
      async run(_input, context) {
        use(context)
        return 'done'
      },
    })
  const activate = toolThat('activate', ({ activeSkills }) => activeSkills.add('a'))
  const look = toolThat('look', ({ activeSkills }) => seen.push([...activeSkills]), {
    approval: 'always',
  })
  const { events } = createAgentForTest({
    answers: [asks(toolCall('activate')), asks(toolCall('look')), says('ok')],
    tools: [activate, look],
  })
  const { state = '', calls = [] } = endOf(await events()).approval ?? {}
  await events({ resume: { state, approved: calls.map(({ callId }) => callId) } })
  expect(seen).toEqual([['a']])
})

it('A stopped run does not go on with documents that may not be read any more', async () => {
  const hidden = new Set<string>()
  const pauses = createPauses(createMemoryArtifactStore(), async () => hidden)
  const request = question('Why?')
  const hit = { id: 'd-1-0', documentId: 'd', score: 1, text: 'Words', title: '', start: 0, end: 5 }
  const run = {
    sessionId: 'c',
    hits: [hit],
    chunks: 1,
    artifacts: [],
    activeSkills: [],
    degraded: false,
    spent: { rounds: 1, calls: 1, tokens: 0 },
    added: [],
  }
  const state = await pauses.keep(run, request)
  expect(await pauses.open(state, request)).toEqual(run)
  hidden.add('d')
  await expect(pauses.open(state, request)).rejects.toMatchObject({ param: 'resume.state' })
})
