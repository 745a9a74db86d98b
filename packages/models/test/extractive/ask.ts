import { eachEvent } from '../../../../test/support/batches.ts'
import type { ModelChunk, ModelRequest, ModelUsage } from '../../src/chat-model.ts'
import { createExtractiveModel } from '../../src/extractive/extractive-model.ts'

export const NOTHING =
  'Nothing in your documents answers this. Only quotes can be given: no language model is configured.'

export const LIBRARY: ModelChunk = {
  title: 'Library guide',
  text: `# City library

The library was founded in 1901. It holds two hundred thousand books[3] and a collection of maps.

## Opening hours

The library is open on these days:

- Monday to Friday: 9:00 to 19:00
- Saturday: 10 to 14
- Sunday: closed

## Borrowing

You can borrow **ten books at a time. A loan lasts four weeks.** It can be renewed twice. Children's
cards are free, e.g. for pupils. Dr. Smith runs the children's corner.

### Fees

| Item | Fee |
|---|---|
| Late book | 20 cents per day |
| Lost card | 5 euros |

## The app

Install it with these commands:

\`\`\`sh
npm ci
npm start
\`\`\`
`,
}

export const MUSEUM: ModelChunk = {
  title: 'Museum',
  text: 'Volunteers open the doors of the museum at ten. The museum shop sells books about the city. The cafe opens at eight and closes at six.',
}

export interface Quoted {
  text: string
  deltas: string[]
  reason: string | undefined
  usage: ModelUsage | undefined
}

export async function ask(
  asked: string,
  chunks: readonly ModelChunk[] = [LIBRARY, MUSEUM],
  request: Partial<ModelRequest> = {},
): Promise<Quoted> {
  const messages = [{ role: 'user' as const, content: asked }]
  const whole = { messages, tools: [], sampling: {}, chunks, ...request }
  const quoted: Quoted = { text: '', deltas: [], reason: undefined, usage: undefined }
  const events = createExtractiveModel().stream(whole, new AbortController().signal)
  for await (const event of eachEvent(events)) {
    if (event.type === 'text-delta') quoted.deltas.push(event.text)
    if (event.type === 'finish') Object.assign(quoted, event)
  }
  return { ...quoted, text: quoted.deltas.join('') }
}
