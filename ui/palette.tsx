import { signal, useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import { client } from './api.ts'
import { leaveConversation } from './chat/answering.ts'
import { turns } from './chat/conversation.ts'
import { findRequests } from './chat/find.ts'
import { Dialog } from './parts/dialog.tsx'
import { href, route } from './route.ts'

/** Results of each kind. */
const MAX_RESULTS = 5
const SEARCH_MS = 200

interface Entry {
  /** What kind of thing it is. */
  kind: 'Page' | 'Action' | 'Conversation' | 'Document'
  name: string
  go: () => void
}

const visit = (...parts: string[]) => {
  location.hash = href(...parts)
}

const ACTIONS: readonly Entry[] = [
  {
    kind: 'Action',
    name: 'New conversation',
    go: () => {
      leaveConversation()
      visit('chat')
    },
  },
  { kind: 'Action', name: 'API reference', go: () => location.assign('/reference') },
]

const FIND: Entry = {
  kind: 'Action',
  name: 'Find in this conversation',
  go: () => (findRequests.value += 1),
}

const SHORTCUT = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘ K' : 'Ctrl K'

/** Whether the palette is open. */
const isPaletteOpen = signal(false)

/** Opens pages, conversations and documents by their names, with Ctrl K or ⌘K. */
export function Palette({ pages }: { pages: readonly { path: string; title: string }[] }) {
  useEffect(() => {
    const look = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
      if (event.altKey || event.shiftKey || document.querySelector('dialog[open]')) return
      event.preventDefault()
      isPaletteOpen.value = true
    }
    document.addEventListener('keydown', look)
    return () => document.removeEventListener('keydown', look)
  }, [])
  const entries: readonly Entry[] = [
    ...pages.map(({ path, title }) => ({
      kind: 'Page' as const,
      name: title,
      go: () => visit(path),
    })),
    ...ACTIONS,
    ...(route.value[0] === 'chat' && turns.value.length > 0 ? [FIND] : []),
  ]
  const close = () => {
    isPaletteOpen.value = false
  }
  return (
    <>
      <button type="button" class="open-palette" onClick={() => (isPaletteOpen.value = true)}>
        Go to <kbd>{SHORTCUT}</kbd>
      </button>
      {isPaletteOpen.value && <PaletteDialog known={entries} onClose={close} />}
    </>
  )
}

function PaletteDialog({ known, onClose }: { known: readonly Entry[]; onClose: () => void }) {
  const id = useId()
  const query = useSignal('')
  const results = useSignal<readonly Entry[]>([])
  const place = useSignal(0)
  useEffect(
    () =>
      findLater(query.value, (entries) => {
        results.value = entries
      }),
    [query.value],
  )
  const words = query.value.trim().toLowerCase()
  const entries = [
    ...known.filter(({ name }) => name.toLowerCase().includes(words)),
    ...results.value,
  ]
  const choose = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.go()
  }
  useEffect(
    () => document.getElementById(`${id}-${place.value}`)?.scrollIntoView({ block: 'nearest' }),
    [place.value],
  )
  const step = (by: number) => {
    place.value = (place.value + by + entries.length) % Math.max(entries.length, 1)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isStep = event.key === 'ArrowDown' || event.key === 'ArrowUp'
    if (!isStep && event.key !== 'Enter') return
    event.preventDefault()
    if (isStep) step(event.key === 'ArrowDown' ? 1 : -1)
    else choose(entries[place.value])
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Page, conversation or document"
        aria-expanded="true"
        aria-controls={`${id}-entries`}
        aria-activedescendant={entries.length > 0 ? `${id}-${place.value}` : undefined}
        placeholder="Page, conversation or document"
        value={query.value}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value
          place.value = 0
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={`${id}-entries`} aria-label="Places" class="palette">
        {entries.map((entry, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus
          <div
            key={`${entry.kind} ${entry.name} ${at}`}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === place.value}
            onClick={() => choose(entry)}
          >
            <span dir="auto">{entry.name}</span> <span class="hint">{entry.kind}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p class="hint">Nothing found.</p>}
    </Dialog>
  )
}

/** Finds conversations and documents after a short rest; returns what ends that. */
function findLater(text: string, show: (entries: readonly Entry[]) => void): () => void {
  const controller = new AbortController()
  const find = async () => {
    const entries = text.trim() === '' ? [] : await findEntries(text, controller.signal)
    if (!controller.signal.aborted) show(entries)
  }
  const timer = setTimeout(() => void find(), SEARCH_MS)
  return () => {
    clearTimeout(timer)
    controller.abort()
  }
}

async function findEntries(text: string, signal: AbortSignal): Promise<Entry[]> {
  // A key that may not do one of both still does the other.
  const [conversations, documents] = await Promise.allSettled([
    client.conversations.list({ limit: MAX_RESULTS, search: text }).page(),
    client.query({ query: text, topK: MAX_RESULTS * 2 }, { signal }),
  ])
  const { items } = conversations.status === 'fulfilled' ? conversations.value : { items: [] }
  const { hits } = documents.status === 'fulfilled' ? documents.value : { hits: [] }
  const titles = new Map(hits.map(({ documentId, title }) => [documentId, title || documentId]))
  return [
    ...items.map(({ id, title }) => ({
      kind: 'Conversation' as const,
      name: title ?? 'Untitled',
      go: () => visit('chat', id),
    })),
    ...[...titles].slice(0, MAX_RESULTS).map(([id, name]) => ({
      kind: 'Document' as const,
      name,
      go: () => visit('documents', id),
    })),
  ]
}
