import type { Visibility } from '@agent-server/lib/visibility.ts'
import type { ModelMessage } from '@agent-server/models'
import { MASTER } from '@agent-server/schemas/operator/api-key.ts'
import type { StoredDocument } from '@agent-server/stores'
import { describe, expect, it } from 'vitest'
import { createSentQuestions } from '../../../src/agent/run/sent-questions.ts'
import { hitOf } from '../../support/hit.ts'
import { createAgentForTest, question } from './agent-for-test.ts'
import { says } from './scripted-model.ts'

const CHUNK = 'a-1-0'
const user = (content: string): ModelMessage => ({ role: 'user', content })
const assistant = (content: string): ModelMessage => ({ role: 'assistant', content })

/** An agent whose one document is served in the given revision, or gone. */
function agentWith(revisionOf: () => number | undefined, contextTokens = 32_768) {
  const getAll = async (_visibility: Visibility, ids: readonly string[]) => {
    const servedRevision = revisionOf()
    const documents = ids.map((id) => {
      const document = { id: id.replace(/^doc_|-1-0$/g, ''), servedRevision }
      // Only what the questions look at.
      return [id, document as Partial<StoredDocument> as StoredDocument] as const
    })
    return new Map(servedRevision === undefined ? [] : documents)
  }
  const answers = Array.from({ length: 12 }, () => says('Yes.'))
  const sentQuestions = createSentQuestions({ getAll })
  const agent = createAgentForTest({ answers, found: [CHUNK], sentQuestions, contextTokens })
  return {
    /** Asks, and returns what the model was sent. */
    async ask(messages: readonly ModelMessage[], more = {}) {
      await agent.events({ messages, rewrite: false, ...more })
      return agent.model.requests.at(-1)?.messages ?? []
    },
  }
}

const FIRST = [user('When does it open?')]
const SECOND = [...FIRST, assistant('Yes.'), user('And on Sundays?')]

describe('The second question of a conversation', () => {
  it('follows the first as it was sent, with its passages', async () => {
    const agent = agentWith(() => 1)
    const first = await agent.ask(FIRST)
    const second = await agent.ask(SECOND)
    expect(first.at(-1)?.content).toContain('<passages>')
    expect(second.slice(0, first.length)).toEqual(first)
    const third = await agent.ask([...SECOND, assistant('No.'), user('Why?')])
    expect(third.slice(0, second.length)).toEqual(second)
  })

  it.each([
    ['has a new revision', 2],
    ['was deleted', undefined],
  ])('follows the bare first one if its document %s', async (_case, revision) => {
    let served: number | undefined = 1
    const agent = agentWith(() => served)
    await agent.ask(FIRST)
    served = revision
    expect((await agent.ask(SECOND)).at(-3)).toEqual(FIRST[0])
  })

  it('is not reused for a caller with another visibility', async () => {
    const agent = agentWith(() => 1)
    await agent.ask(FIRST)
    const sent = await agent.ask(SECOND, { filter: { collection: 'b' } })
    expect(sent.at(-3)).toEqual(FIRST[0])
  })

  it('follows the bare first one where passages of both have no room', async () => {
    const agent = agentWith(() => 1, 300)
    await agent.ask(FIRST)
    expect((await agent.ask(SECOND)).at(-3)).toEqual(FIRST[0])
  })
})

describe('Of many conversations', () => {
  const served = { id: 'doc_a-1-0', servedRevision: 1 } as Partial<StoredDocument>
  // Only what the questions look at.
  const questions = createSentQuestions({
    getAll: async (_, ids) => new Map(ids.map((id) => [id, served as StoredDocument])),
  })
  const hit = { ...hitOf('a-1-0'), id: 'doc_a-1-0-1-0' }
  const of = (id: string) => ({ caller: { ...MASTER, key: { id, name: id } } })
  const keep = (first: string, more = {}, content = 'as sent') =>
    questions.keep({ ...question(first), ...more }, content, [hit])
  const recalled = async (first: string, more = {}) => {
    const messages = [user(first), assistant('Yes.'), user('And?')]
    const asked = { ...question(''), ...more, messages }
    return [...(await questions.recall(asked)).values()]
  }

  it('the oldest are forgotten', async () => {
    for (let each = 0; each <= 1_000; each += 1) keep(`${each}`)
    expect(await recalled('0')).toEqual([])
    expect(await recalled('1')).toEqual(['as sent'])
    expect(await recalled('1000')).toEqual(['as sent'])
  })

  it('fewer are remembered if they are long', async () => {
    const long = 'x'.repeat(60_000)
    for (let each = 0; each <= 300; each += 1) keep(`long ${each}`, {}, long)
    expect(await recalled('long 0')).toEqual([])
    expect(await recalled('long 300')).toEqual([long])
  })

  it('those of a key are kept, however many another has', async () => {
    keep('quiet', of('a'))
    for (let each = 0; each <= 2_000; each += 1) keep(`${each}`, of('b'))
    expect(await recalled('quiet', of('a'))).toEqual(['as sent'])
    expect(await recalled('2000', of('b'))).toEqual(['as sent'])
  })
})
