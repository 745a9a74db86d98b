import { computed, type Signal, signal } from '@preact/signals'
import { onSignOut } from '../session.ts'
import { guardUnsaved } from '../unsaved.ts'

const PREFIX = 'agent-server.question.'
const PICTURES_PREFIX = 'agent-server.pictures.'
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
  unkept.value = new Set()
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX) || key.startsWith(PICTURES_PREFIX)) sessionStorage.removeItem(key)
  }
})

/** What the tab has no room for would be lost with the page. */
const unkept = signal<ReadonlySet<string>>(new Set())
guardUnsaved(computed(() => unkept.value.size > 0))

/** Whether a question is written that was not sent. */
export const hasUnsent = (): boolean =>
  [...drafts.values()].some((draft) => draft.value.trim() !== '')

/** The question that is being written in a conversation or a new one, or in place of an earlier one; this tab keeps it. */
export function draftOf(conversation = 'new'): Signal<string> {
  const existing = drafts.get(conversation)
  if (existing) return existing
  const key = PREFIX + conversation
  const draft = signal(sessionStorage.getItem(key) ?? '')
  draft.subscribe((text) => keep(key, text))
  drafts.set(conversation, draft)
  return draft
}

/** The pictures of the question that is being written; this tab keeps them. */
export function picturesOf(conversation = 'new'): Signal<readonly Picture[]> {
  const existing = pictures.get(conversation)
  if (existing) return existing
  const key = PICTURES_PREFIX + conversation
  const attached = signal<readonly Picture[]>(JSON.parse(sessionStorage.getItem(key) ?? '[]'))
  attached.subscribe((shown) => keep(key, shown.length === 0 ? '' : JSON.stringify(shown)))
  pictures.set(conversation, attached)
  return attached
}

/** Moves a draft from one conversation, or a new one, to another. */
export function moveDraft(from: string | undefined, to: string | undefined): void {
  const [text, images] = [draftOf(from).value, picturesOf(from).value]
  // The tab has room for them once.
  draftOf(from).value = ''
  picturesOf(from).value = []
  putBack(to, text, images)
}

/** Puts a question that was not sent back before the text written since. */
export function putBack(to: string | undefined, text: string, images: readonly Picture[]): void {
  const [draft, shown] = [draftOf(to), picturesOf(to)]
  draft.value = [text, draft.value].filter(Boolean).join('\n\n')
  shown.value = [...images, ...shown.value]
}

function keep(key: string, text: string): void {
  const others = new Set(unkept.value)
  others.delete(key)
  try {
    sessionStorage.removeItem(key)
    if (text !== '') sessionStorage.setItem(key, text)
  } catch {
    // The browser has less room: the page keeps it, and asks before it is left.
    others.add(key)
  }
  unkept.value = others
}
