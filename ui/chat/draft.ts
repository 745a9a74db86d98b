import { type Signal, signal } from '@preact/signals'
import { onSignOut } from '../session.ts'

const PREFIX = 'agent-server.question.'
const drafts = new Map<string, Signal<string>>()
const pictures = new Map<string, Signal<readonly Picture[]>>()

/** A picture that the next question shows to the model. */
export interface Picture {
  id: number
  name: string
  /** A data URL. */
  url: string
}

onSignOut(() => {
  drafts.clear()
  pictures.clear()
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

/** The pictures of the question that is being written; they are kept until the page is reloaded. */
export function picturesOf(conversation = 'new'): Signal<readonly Picture[]> {
  const known = pictures.get(conversation)
  if (known) return known
  const chosen = signal<readonly Picture[]>([])
  pictures.set(conversation, chosen)
  return chosen
}

/** What was begun as a new conversation goes on in the one that the server has created. */
export function moveDraft(conversation: string): void {
  const begun = draftOf()
  draftOf(conversation).value = begun.value
  begun.value = ''
  picturesOf(conversation).value = picturesOf().value
  picturesOf().value = []
}

function keep(key: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(key)
    else sessionStorage.setItem(key, text)
  } catch {
    // The browser has less room: the page keeps it until it is left.
  }
}
