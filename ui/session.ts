import { signal } from '@preact/signals'
import { messageOf, type SessionState, session, whenSessionEnds } from './api.ts'
import { clearRoute } from './route.ts'

type SessionPhase = 'unknown' | 'signed-out' | 'signed-in'

export const phase = signal<SessionPhase>('unknown')
export const version = signal('')
/** Who has signed in, unless with the server key. */
export const person = signal<SessionState['person']>(undefined)
/** Where people sign in with their company's account; undefined if they cannot. */
export const signInPath = signal<string | undefined>(undefined)
const scopes = signal<readonly string[]>([])

/** Whether what has this scope is shown; the server decides for itself. */
export const may = (scope: 'query' | 'chat' | 'ingest' | 'admin') => scopes.value.includes(scope)

/** Why the key is requested, if there is a particular reason. */
export const signInNote = signal('')

/** Whose what this tab keeps is: the id of a person, empty for who has the server key. */
const OWNER = 'agent-server.owner'

/** Of what the web UI keeps in this browser, besides the theme; all of it is forgotten when somebody signs out or another signs in. */
const forgetters = new Set<() => void>()

export function onSignOut(forget: () => void): void {
  forgetters.add(forget)
}

/** Finds out whether somebody is signed in; a token in the address, of the link that the first start prints, signs in. */
export async function beginSession(): Promise<void> {
  whenSessionEnds(() => {
    if (phase.value !== 'signed-in') return
    signInNote.value = 'The session has ended. Sign in again to continue.'
    phase.value = 'signed-out'
  })
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1]
  // At once, so that it stays neither in the history nor in what somebody copies.
  if (token) clearRoute()
  try {
    if (token) await session.signIn({ token })
  } catch (error) {
    signInNote.value = messageOf(error)
  }
  await readSession()
}

async function readSession(): Promise<void> {
  try {
    const state = await session.read()
    if (state.signedIn) forgetOthers(state.person?.id ?? '')
    version.value = state.version
    scopes.value = state.scopes
    person.value = state.person
    signInPath.value = state.signInPath
    phase.value = state.signedIn ? 'signed-in' : 'signed-out'
  } catch (error) {
    signInNote.value = messageOf(error)
    phase.value = 'signed-out'
  }
}

/** A session may end without signing out; what is half written then waits for the same person only. */
function forgetOthers(owner: string): void {
  const before = sessionStorage.getItem(OWNER)
  if (before !== null && before !== owner) forgetAll()
  sessionStorage.setItem(OWNER, owner)
}

function forgetAll(): void {
  for (const forget of forgetters) forget()
}

export async function signIn(key: string): Promise<void> {
  await session.signIn({ key })
  signInNote.value = ''
  await readSession()
}

export async function signOut(): Promise<void> {
  const elsewhere = await session.signOut()
  forgetAll()
  signInNote.value = ''
  phase.value = 'signed-out'
  if (elsewhere) location.assign(elsewhere.signOutUrl)
}
