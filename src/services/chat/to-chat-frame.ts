import type { ChatFrame } from '../../schemas/chat.ts'
import type { AgentEvent } from '../agent/agent-event.ts'
import { toRunExtras } from './run-extras.ts'

/** One agent event as a frame of the chat stream, or nothing where the caller did not ask for it. */
export function toChatFrame(event: AgentEvent, includeSteps: boolean): ChatFrame | undefined {
  switch (event.type) {
    case 'text-delta':
      return event
    case 'tool-call':
    case 'tool-result':
      return includeSteps ? event : undefined
    case 'client-tool-calls':
      return undefined
    case 'run-end': {
      const { usage } = event
      return { type: 'done', ...toRunExtras(event), ...(usage && { usage }) }
    }
    default:
      return event satisfies never
  }
}
