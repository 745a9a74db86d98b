import type { Signal } from '@preact/signals'
import {
  AgentServer,
  AgentServerError,
  type Fetch,
  InvalidRequestError,
} from '../packages/client/src/agent-server.ts'

/** The whole API, with the session's cookie in place of the key. */
export const API = '/ui/api'
/** Proves to the server that its own page sends the request: forms and images cannot set a header. */
const HEADERS = { 'x-agent-server-web-ui': '1' }

const UNREACHABLE = 'The server does not respond. It may be restarting, or the connection was lost.'

let onSessionEnd: () => void = () => undefined

/** Is called whenever the server no longer knows the session. */
export function whenSessionEnds(callback: () => void): void {
  onSessionEnd = callback
}

const watchedFetch: Fetch = async (url, init) => {
  const response = await fetch(url, init)
  if (response.status === 401) onSessionEnd()
  return response
}

/** The server, as any other program would ask it. */
export const client = createClient(watchedFetch)

/** A client for one upload, which tells how many bytes have been sent; `fetch` in browsers does not. */
export function uploadingClient(onProgress: (sent: number) => void): AgentServer {
  return createClient((url, init = {}) =>
    init.body instanceof FormData ? sendForm(url, init, onProgress) : watchedFetch(url, init),
  )
}

function createClient(fetchLike: Fetch): AgentServer {
  const baseURL = `${location.origin}${API}`
  return new AgentServer({
    baseURL,
    apiKey: null,
    defaultHeaders: HEADERS,
    fetch: fetchLike,
    // They are for who writes a program: an exported file, for one, has fields that its import ignores.
    warnings: false,
  })
}

function sendForm(
  url: string,
  { method = 'POST', headers, body, signal }: RequestInit,
  onProgress: (sent: number) => void,
): Promise<Response> {
  const request = new XMLHttpRequest()
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => request.abort()
    signal?.addEventListener('abort', abort)
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    request.addEventListener('load', () => {
      if (request.status === 401) onSessionEnd()
      const retryAfter = request.getResponseHeader('retry-after')
      const headers = retryAfter === null ? {} : { 'retry-after': retryAfter }
      resolve(new Response(request.responseText, { status: request.status, headers }))
    })
    request.addEventListener('error', () => reject(new TypeError(UNREACHABLE)))
    request.addEventListener('abort', () => reject(signal?.reason))
    request.addEventListener('loadend', () => signal?.removeEventListener('abort', abort))
    request.open(method, url)
    for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
    request.send(body instanceof FormData ? body : null)
  })
}

/** What went wrong, for people. */
export function messageOf(error: unknown): string {
  if (error instanceof AgentServerError && error.status === undefined && !error.code) {
    return UNREACHABLE
  }
  return error instanceof Error ? error.message : String(error)
}

/** The name of the field that a refusal is about, without the fields around it; empty where it is about none. */
export const fieldOf = (error: unknown): string =>
  (error instanceof InvalidRequestError && error.param?.split('.').at(-1)) || ''

/** Whether the state that a change is based on was changed by somebody else. */
export function isEditConflict(error: unknown): boolean {
  return error instanceof AgentServerError && error.code === 'edit_conflict'
}

/** Does something, and returns whether it could be done; if not, `failure` says why. */
export async function attempt(
  failure: Signal<string>,
  work: () => PromiseLike<unknown>,
): Promise<boolean> {
  failure.value = ''
  try {
    await work()
    return true
  } catch (error) {
    failure.value = messageOf(error)
    return false
  }
}

export interface SessionState {
  signedIn: boolean
  version: string
  /** What they may do. */
  scopes: readonly string[]
  /** Absent for who has signed in with the server key. */
  person?: { id: string; name?: string; isAdministrator: boolean }
  /** Where people sign in with their company's account, if they can. */
  signInPath?: string
}

/** The way in, which is the web UI's own and no part of the API. */
export const session = {
  read: () => ask<SessionState>('GET', '/ui/session'),
  signIn: (secret: { key: string } | { token: string }) => ask('POST', '/ui/session', secret),
  /** May say where the browser has to sign out as well. */
  signOut: () => ask<{ signOutUrl: string } | null>('DELETE', '/ui/session'),
  revealKey: async () => (await ask<{ key: string }>('POST', '/ui/key')).key,
}

async function ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
  const type = body && { 'content-type': 'application/json' }
  const sent = {
    method,
    headers: { ...HEADERS, ...type },
    body: body ? JSON.stringify(body) : null,
  }
  const response = await fetch(path, sent).catch(() => {
    throw new Error(UNREACHABLE)
  })
  const answer = JSON.parse((await response.text()) || 'null')
  if (response.ok) return answer
  throw new Error(answer?.error?.message ?? `The server answered with status ${response.status}.`)
}

/** Where the browser itself loads something of the API from, with what is set of a query. */
export function addressOf(path: string, query: object): string {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)]))
  return `${API}${path}?${search}`
}
