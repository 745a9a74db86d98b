import { DocumentCreated } from '@agent-server/schemas/document.ts'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { askOn, openWebUi, type Profiles } from './browser.ts'
import { type FileToSend, sendFile } from './forms.ts'
import { startScriptedUpstream } from './scripted-upstream.ts'
import { modelAt, startServer } from './server.ts'
import { textReply } from './upstream-replies.ts'

const HOSTILE = '<img src=x onerror="alert(1)"> [click](javascript:alert(2)) \uE000 mark \uE001'
export const QUESTION = 'When does the library open on Saturdays?'
export const SENTENCE = 'On Saturdays it opens at ten and closes at two.'
export const FEES =
  'Fees of the library.\n\n| Item | Fee |\n| --- | --- |\n| Lost card | 4 euros |\n| Lost book | its price |'
/** Long enough that the cited sentence is far from the beginning. */
const HANDBOOK = [
  '# Handbook',
  HOSTILE,
  ...Array.from(
    { length: 60 },
    (_, n) => `## Rule ${n}\n\nShelf ${n} holds the maps of region ${n}.`,
  ),
  `## Opening hours\n\nThe library opens at nine on **weekdays**. ${SENTENCE} It is closed on Sundays.`,
  FEES,
  ...Array.from({ length: 60 }, (_, n) => `## Annex ${n}\n\nForm ${n} is kept in drawer ${n}.`),
].join('\n\n')

export interface Answered extends BrowserContextOptions {
  text?: string
  /** Sent instead of a text. */
  file?: FileToSend
  question?: string
  /** What the model says of the citations, if it is asked. */
  verdicts?: string
}

/** The chat with an answer about a document, which a scripted model has given. */
export async function openAnswer(
  browser: Profiles,
  answer: string,
  { text = HANDBOOK, file, question = QUESTION, verdicts, ...options }: Answered = {},
) {
  const upstream = await startScriptedUpstream()
  const check = verdicts === undefined ? 'words' : 'model'
  const server = await startServer(modelAt(upstream, { CITATION_CHECK: check }))
  const id = file
    ? DocumentCreated.parse(await (await sendFile(server, file)).json()).id
    : await server.ingest({ title: 'Handbook', text })
  upstream.script(textReply(answer))
  upstream.always(textReply(verdicts ?? answer))
  const opened = await openWebUi(browser, server.url, 'chat', options)
  await askOn(opened.page, question)
  return { ...opened, server, id, upstream }
}

/** Whether the first of the elements is within the window. */
export async function isInView(page: Page, selector: string): Promise<boolean> {
  const element = page.locator(selector).first()
  const y = (await element.boundingBox())?.y ?? -1
  return y > 0 && y < (page.viewportSize()?.height ?? 0)
}
