import type { ChatApi } from '../chat-model.ts'
import type { UpstreamFailure } from './failures.ts'

/** `auto` follows the server's address, and then what the server refuses. */
export type ChosenApi = ChatApi | 'auto'

/** The servers of providers whose own protocol is not chat completions. */
const HOSTS: readonly { host: RegExp; path?: RegExp; api: ChatApi }[] = [
  // Regions have hosts of their own, such as eu.api.openai.com.
  { host: /^(?:\w+\.)?api\.openai\.com$/, api: 'responses' },
  {
    host: /\.(?:openai|services\.ai|cognitiveservices)\.azure\.com$/,
    path: /^\/openai\/v1\/*$/,
    api: 'responses',
  },
  { host: /^api\.anthropic\.com$/, api: 'messages' },
  // DeepSeek, Kimi, GLM, MiniMax and Azure each have an address for programs that know Claude alone.
  { host: /./, path: /\/anthropic(?:\/v1)?\/*$/, api: 'messages' },
]

/** The protocol to try first. */
export function firstApi(baseUrl: string, chosen: ChosenApi): ChatApi {
  if (chosen !== 'auto') return chosen
  const { hostname, pathname } = new URL(baseUrl)
  const entry = HOSTS.find(
    ({ host, path }) => host.test(hostname) && (path?.test(pathname) ?? true),
  )
  return entry?.api ?? 'chat-completions'
}

/** OpenAI: "… not supported for … in /v1/chat/completions. To use function tools, use /v1/responses or …". */
const NAMES_RESPONSES =
  /\bv1\/responses\b|\bresponses (?:api|endpoint)\b|\bnot a chat model\b.*v1\/completions/i
/** Statuses of servers that lack an endpoint, rather than a model. */
const MISSING = [404, 405, 501]
const NAMES_MODEL = /\bmodel\b|\bdeployment\b/i

/** The protocol to ask the same question in after this failure; undefined if another would fail as well. */
export function nextApi(current: ChatApi, { facts }: UpstreamFailure): ChatApi | undefined {
  const { kind, status = 0, code, rawMessage = '' } = facts
  if (current === 'chat-completions') {
    const isNamed =
      kind === 'status' && status >= 400 && status < 500 && NAMES_RESPONSES.test(rawMessage)
    return isNamed ? 'responses' : undefined
  }
  const isMissing = (kind === 'status' || kind === 'web-page') && MISSING.includes(status)
  return isMissing && code !== 'model_not_found' && !NAMES_MODEL.test(rawMessage)
    ? 'chat-completions'
    : undefined
}
