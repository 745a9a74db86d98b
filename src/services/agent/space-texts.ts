import type { AgentEvent } from './agent-event.ts'

const PARAGRAPH = '\n\n'

/** The same events, with a blank line between what the model says before it calls tools and what it says after. */
export async function* spaceTexts(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  let end = ''
  let isParted = false
  for await (const event of events) {
    if (event.type === 'tool-result') isParted = true
    if (event.type !== 'text-delta' || event.text === '') {
      yield event
      continue
    }
    const isJoined = isParted && end !== '' && end !== '\n'
    yield isJoined ? { ...event, text: PARAGRAPH + event.text } : event
    isParted = false
    end = event.text.slice(-1)
  }
}
