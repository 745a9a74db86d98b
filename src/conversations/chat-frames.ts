import type { ChatFrame } from '@agent-server/schemas/chat.ts'
import type { AgentEvent } from '@agent-server/wire'
import { toRunExtras } from '@agent-server/wire'

/** Converts an agent event into a frame of the chat stream; undefined if the frame is not sent. */
export function toChatFrame(event: AgentEvent, includeSteps: boolean): ChatFrame | undefined {
  switch (event.type) {
    case 'text-delta':
    case 'approval-required':
    case 'citations':
      return event
    case 'search-step':
    case 'tool-call':
    case 'tool-progress':
    case 'tool-result':
    case 'reasoning-delta':
    case 'progress':
      return includeSteps ? event : undefined
    case 'retrieved': {
      const { type, query, hits } = event
      return includeSteps ? { type, query, found: hits.length } : undefined
    }
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

const STEPS: readonly string[] = [
  'tool-call',
  'tool-progress',
  'tool-result',
  'reasoning-delta',
  'progress',
]

/** The frames that a client requested. */
export const framesFor = (frames: ChatFrame[], includeSteps: boolean): ChatFrame[] =>
  includeSteps ? frames : frames.filter(({ type }) => !STEPS.includes(type))
