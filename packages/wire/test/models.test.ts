import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import { describe, expect, it } from 'vitest'
import { createModels } from '../src/models.ts'

const { signal } = new AbortController()

describe('The models', () => {
  const models = createModels({ modelName: 'desk', agents: new Map() }, () => ({
    collections: async () => ['hr'],
  }))

  it('are the agent, and one for each collection', async () => {
    const card = await models.get('desk', MASTER, signal)
    const named = (id: string) => ({ ...card, id, display_name: id })
    const data = [card, named('desk:hr'), named('desk-plain')]
    const page = { has_more: false, first_id: 'desk', last_id: 'desk-plain' }
    expect(await models.list(MASTER, signal)).toEqual({ object: 'list', data, ...page })
    expect(await models.get('desk:hr', MASTER, signal)).toEqual(data[1])
    expect(card).toEqual({
      id: 'desk',
      object: 'model',
      created: expect.any(Number),
      owned_by: 'agent-server',
      type: 'model',
      display_name: 'desk',
      created_at: expect.stringMatching(/^20.*Z$/),
    })
  })

  it.each(['gpt-4o', '', 'DESK', 'desk:law'])('do not hold %j', async (id) => {
    const asked = models.get(id, MASTER, signal)
    await expect(asked).rejects.toMatchObject({ code: 'model_not_found' })
  })
})
