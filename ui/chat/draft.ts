import { type Signal, signal } from '@preact/signals'
import { onSignOut } from '../session.ts'

const PREFIX = 'agent-server.question.'
const drafts = new Map<string, Signal<string>>()

onSignOut(() => {
  drafts.clear()
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
  }
})

/** The question that is being written in a conversation or a new one; this tab keeps it. */
export function draftOf(conversation = 'new'): Signal<string> {
  const known = drafts.get(conversation)
  if (known) return known
  const key = PREFIX + conversation
  const draft = signal(sessionStorage.getItem(key) ?? '')
  draft.subscribe((text) => keep(key, text))
  drafts.set(conversation, draft)
  return draft
}

/** What was begun as a new conversation goes on in the one that the server has created. */
export function moveDraft(conversation: string): void {
  const begun = draftOf()
  draftOf(conversation).value = begun.value
  begun.value = ''
}

function keep(key: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  } catch {
    // The browser has less room: the page keeps it until it is left.
  }
}
