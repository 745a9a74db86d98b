import type { ChatApi } from './chat-model.ts'
import { completions } from './completions/completions.ts'
import { messages } from './messages/messages.ts'
import { responses } from './responses/responses.ts'
import type { Protocol } from './upstream/protocol.ts'

/** The protocols of model servers: a folder and a line here for each. */
export const PROTOCOLS: Readonly<Record<ChatApi, Protocol>> = {
  responses,
  'chat-completions': completions,
  messages,
}
