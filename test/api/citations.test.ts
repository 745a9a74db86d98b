import { describe, expect, it } from 'vitest'
import { verifies } from '../requirements.ts'
import { ask } from '../support/chat-reader.ts'
import { askBy, WAYS } from '../support/every-way.ts'
import { sendFile } from '../support/forms.ts'
import { modelRequest } from '../support/model-request.ts'
import { pdfFile } from '../support/pdf-file.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { modelAt, startServer } from '../support/server.ts'
import { chunk, streamReply, textReply, toolCallReply } from '../support/upstream-replies.ts'

const OWLS = 'Owls hoot at night.'
const QUESTION = { messages: [{ role: 'user', content: 'When do owls hoot?' }] }

const upstream = await startScriptedUpstream()
const server = await startServer(modelAt(upstream))
await server.ingest({ title: 'Owls', text: OWLS })
await server.ingest({ title: 'Beavers', text: 'Beavers build dams.' })
await server.ingest({
  title: 'Tram line 7: timetable change',
  text: 'From May on, line 7 runs every 12 minutes.',
})
const pages = ['Nothing here.', 'Lynxes have tufted ears.', 'Nothing there.']
await sendFile(server, { name: 'lynx.pdf', bytes: pdfFile({ pages }) })

const quoting = await startServer()
await quoting.ingest({ title: 'Owls', text: OWLS })
await quoting.ingest({ title: 'Lease', text: 'The documents do not mention a deposit.' })

/** An answer that comes in these very pieces. */
const inPieces = (...pieces: string[]) =>
  streamReply(...pieces.map((content) => chunk({ content })), chunk({}, 'stop'))

describe.each(WAYS)('A citation, asked for by %s', (way) => {
  const run = (scripts: Parameters<typeof askBy>[2], more: object = QUESTION) =>
    askBy(way, { server, upstream }, scripts, more)

  it.each([
    ['of what was found', 'At night [1].', 'At night [1].', undefined],
    ['of nothing', 'At night [7][0].', 'At night [?][?].', [0, 7]],
    [
      'of some that there are',
      'At night [1, 9], always [1-2].',
      'At night [1][?], always [1][?].',
      [2, 9],
    ],
    [
      'in code or a link',
      'Take `x[7]` or [8](https://example.org).',
      'Take `x[7]` or [8](https://example.org).',
      undefined,
    ],
  ])(
    '%s is shown as the contract says',
    verifies('chat.citations.known'),
    async (_case, said, shown, unknown) => {
      const { answer, extras } = await run([textReply(said)])
      expect(answer).toBe(shown)
      expect(extras.hits).toHaveLength(1)
      expect(extras.unknownCitations).toEqual(unknown)
    },
  )

  it('is known by its number however it is cut', verifies('chat.citations.known'), async () => {
    const { answer, extras } = await run([inPieces('At ', '[', '1', ']', ' or [', '1', '7]', '[')])
    expect(answer).toBe('At [1] or [?][')
    expect(extras.unknownCitations).toEqual([17])
  })

  it(
    'of what a tool finds counts from then on, and not before',
    verifies('chat.citations.known', 'chat.citations'),
    async () => {
      const search = { name: 'semantic_search', arguments: { query: 'beavers', topK: 1 } }
      const { answer, extras } = await run([
        toolCallReply(search, { text: 'I guess [2].' }),
        textReply('Beavers build [2].'),
      ])
      expect(answer).toBe('I guess [?].\n\nBeavers build [2].')
      expect(extras.hits.map(({ title }) => title)).toEqual(['Owls', 'Beavers'])
    },
  )

  it(
    'leads to the document, the chunk, its span and its score',
    verifies('chat.citations.sources'),
    async () => {
      const { extras } = await run([textReply('At night [1].')])
      const [hit] = extras.hits
      expect(hit).toMatchObject({ title: 'Owls', text: OWLS, start: 0, end: OWLS.length })
      expect(hit?.score).toBeGreaterThan(0)
      const chunks = await server.request(`/documents/${hit?.documentId}/chunks`)
      expect(await chunks.json()).toMatchObject({ chunks: [{ id: hit?.id }] })
    },
  )

  it('has the sentence that carries it, or says that none does', async () => {
    const { answer, extras } = await run([
      textReply('They hoot at night [1]. They weigh 2 kilograms and hoot at night [1].'),
    ])
    const quotes = [{ text: OWLS, start: 0, end: OWLS.length }]
    expect(extras.citations).toEqual([
      { at: answer.indexOf('[1]'), number: 1, by: 'model', quotes, supported: true },
      { at: answer.lastIndexOf('[1]'), number: 1, by: 'model', quotes, supported: false },
    ])
  })

  it('says who wrote it: the model, or the server that adds or replaces one', async () => {
    const search = { name: 'semantic_search', arguments: { query: 'beavers', topK: 1 } }
    const { answer, extras } = await run([
      toolCallReply(search),
      textReply('Owls hoot at night [1]. Beavers build dams [1]. Owls hoot at night.'),
    ])
    expect(answer).toBe('Owls hoot at night [1]. Beavers build dams [2]. Owls hoot at night [1].')
    expect(extras.citations?.map(({ number, by }) => ({ number, by }))).toEqual([
      { number: 1, by: 'model' },
      { number: 2, by: 'server' },
      { number: 1, by: 'server' },
    ])
  })

  it('is not added to a fragment that only repeats the heading of a passage', async () => {
    const asked = { messages: [{ role: 'user', content: 'Tram line 7?' }] }
    const echo = await run([textReply('Tram line 7: timetable change')], asked)
    expect(echo.answer).toBe('Tram line 7: timetable change')
    const fact = await run([textReply('Line 7 runs every 12 minutes')], asked)
    expect(fact.answer).toBe('Line 7 runs every 12 minutes [1]')
  })

  it.each([
    ['The passages do not say how much owls weigh.', true],
    ['The passages do not say how much owls weigh [1].', true],
    ['Sorry. How much they weigh is not mentioned in the documents. Ask a zoo.', true],
    ['At night [1]. The passages do not say how much owls weigh.', undefined],
    ['They do not hoot by day.', undefined],
  ])('of nothing else makes “%s” an abstention: %s', async (said, abstained) => {
    const { extras } = await run([textReply(said)])
    expect(extras.abstained).toBe(abstained)
    expect(extras.hits).toMatchObject([{ title: 'Owls', text: OWLS }])
  })

  it('of a PDF leads to the page', verifies('chat.citations.sources'), async () => {
    const asked = { messages: [{ role: 'user', content: 'Which ears do lynxes have?' }] }
    const { extras } = await run([textReply('Tufted ones [1].')], asked)
    const [hit] = extras.hits
    expect(hit).toMatchObject({ title: 'lynx.pdf' })
    expect(hit?.page).toBeLessThanOrEqual(2)
    expect(hit?.pageEnd).toBeGreaterThanOrEqual(2)
  })
})

describe('Without a model', () => {
  it.each([
    ['What do unicorns cost?', true],
    ['When do owls hoot?', undefined],
    ['Hello!', undefined],
  ])('“%s” ends in an abstention: %s', async (question, abstained) => {
    const { done } = await ask(quoting, question)
    expect(done?.abstained).toBe(abstained)
  })

  it('a quoted sentence that says what documents do not say is a source', async () => {
    const { done, answer } = await ask(quoting, 'What do the documents say of a deposit?')
    expect(answer).toContain('[1]')
    expect(done?.abstained).toBeUndefined()
  })
})

describe('What was cited and not retrieved', verifies('chat.citations.known'), () => {
  it('stays in what the model reads of itself', async () => {
    const search = { name: 'semantic_search', arguments: { query: 'beavers' } }
    upstream.script(toolCallReply(search, { text: 'I guess [7].' }), textReply('No.'))
    await ask(server, 'When do owls hoot?')
    const { messages } = modelRequest(upstream.requests.at(-1))
    expect(messages.find(({ role }) => role === 'assistant')?.content).toBe('I guess [7].')
  })

  it('does not get lost where the model dies with it', async () => {
    upstream.script(streamReply(chunk({ content: 'At [7' }), { cut: true }))
    const { answer, error } = await ask(server, 'When do owls hoot?')
    expect(answer).toBe('At [7')
    expect(error?.code).toBe('upstream_failed')
  })
})
