import { Readiness } from '@agent-server/schemas/operator/ops.ts'
import { describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'

const GERMAN = [
  'Die Bibliothek öffnet werktags um neun Uhr und am Samstag erst um zehn.',
  'Wer ein Buch nicht zurückgibt, der zahlt nach einer Woche eine Gebühr.',
  'Der Lesesaal ist für alle da, und die Plätze werden nicht vergeben.',
  'Mit dem Ausweis können Sie auch in den anderen Häusern der Stadt leihen.',
  'Das Café im Erdgeschoss ist bis sechs geöffnet, aber nicht am Montag.',
  'Für Kinder gibt es an jedem Mittwoch eine Stunde, in der wir vorlesen.',
]
const ENGLISH = Array.from(
  { length: 6 },
  (_, nth) => `The library has a rule ${nth} for those who do not bring their books back.`,
)

const ingestAll = (server: TestServer, texts: readonly string[]) =>
  Promise.all(texts.map((text) => server.ingest({ text })))

async function warningsOf(server: TestServer) {
  const { warnings = [] } = Readiness.parse(await (await server.request('/readiness')).json())
  return warnings.map(({ code, message }) => `${code}: ${message}`)
}

const ask = (server: TestServer, query: string) => server.request('/query', { body: { query } })

describe('The readiness', () => {
  it('says once documents are in another language than search is set up for, and what to do', async () => {
    const server = await startServer({ EMBEDDING_MODEL: 'none' })
    await ingestAll(server, GERMAN)
    await expect
      .poll(() => warningsOf(server))
      .toEqual([
        'language_mismatch: Many passages are in German, but search is by words alone, looked up as in English: choose an embedding model for several languages on the Models page (EMBEDDING_MODEL_NEXT=builtin-multilingual, or one of your model server), and set SEARCH_LANGUAGE=german, which rebuilds the search index',
      ])
  })

  it('does not ask for what is set already', async () => {
    const server = await startServer({ EMBEDDING_MODEL: 'none', SEARCH_LANGUAGE: 'german' })
    await ingestAll(server, [...GERMAN, ...ENGLISH])
    await expect
      .poll(() => warningsOf(server))
      .toEqual([
        expect.stringMatching(
          /^language_mismatch: Many passages are in English, but .* in German: /,
        ),
      ])
  })

  it('says it of questions, once there are documents that they cannot find', async () => {
    const server = await startServer({ EMBEDDING_MODEL: 'none' })
    await ingestAll(server, ENGLISH)
    for (const question of ['Wann öffnet die Bibliothek?', 'Wo ist der Lesesaal?']) {
      for (let nth = 0; nth < 3; nth += 1) await ask(server, question)
    }
    await expect
      .poll(() => warningsOf(server))
      .toEqual([
        expect.stringMatching(/^language_mismatch: Many questions are in German, and no documents/),
      ])
    for (let nth = 0; nth < 30; nth += 1) await ask(server, 'When does the library open?')
    expect(await warningsOf(server)).toEqual([])
  })
})
