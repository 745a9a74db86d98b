import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { client } from '../api.ts'
import { chosenCollection, collections, namesToChoose } from '../collections/collections.ts'
import { titleOf } from '../documents/one-document.tsx'
import { counted } from '../format.ts'
import { useEscape } from '../parts/escape.ts'
import { skills } from './chosen-agent.tsx'
import { RemoveButton } from './file-chips.tsx'
import { type Mention, mentionAt, withMention } from './mention-text.ts'

/** Entries of collections, and of documents. */
const MAX_ENTRIES = 5
const REST_MS = 150
const STEPS = new Map([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
])

interface Entry {
  kind: 'Collection' | 'Document' | 'Skill'
  name: string
  /** What it is for. */
  description?: string
  /** What takes the place of what was typed. */
  choose: () => string
}

/**
 * Offers what is being named in a question, of which a collection limits what is searched. The field keeps the focus, as
 * a combobox does; a field of several lines has no such role.
 */
export function useMentions(
  question: Signal<string>,
  field: RefObject<HTMLTextAreaElement | null>,
) {
  const id = useId()
  const mention = useSignal<Mention | undefined>(undefined)
  const place = useSignal(0)
  const entries = useEntries(mention.value, () => (place.value = 0))
  // A question that is sent leaves the field empty.
  const isOpen = question.value !== '' && entries.length > 0
  const close = () => {
    mention.value = undefined
  }
  useEscape(close, { isOpen, within: field })
  const choose = (entry: Entry | undefined) => {
    if (!entry || !mention.value) return
    const { text, caret } = withMention(question.value, mention.value, entry.choose())
    // At once: what is typed before the next frame belongs behind it.
    if (field.current) {
      field.current.value = text
      field.current.setSelectionRange(caret, caret)
    }
    question.value = text
    close()
  }
  /** Whether the key was meant for the list. */
  const takesKey = ({ key, isComposing, shiftKey }: KeyboardEvent): boolean => {
    if (!isOpen || isComposing || shiftKey) return false
    const step = STEPS.get(key)
    if (step !== undefined) place.value = (place.value + step + entries.length) % entries.length
    else if (key === 'Enter' || key === 'Tab') choose(entries[place.value])
    else return false
    return true
  }
  const attributes = {
    'aria-autocomplete': 'list' as const,
    'aria-haspopup': 'listbox' as const,
    'aria-controls': isOpen ? id : undefined,
    'aria-activedescendant': isOpen ? `${id}-${place.value}` : undefined,
    onInput: ({ currentTarget }: { currentTarget: HTMLTextAreaElement }) => {
      question.value = currentTarget.value
      mention.value = mentionAt(currentTarget.value, currentTarget.selectionStart)
      place.value = 0
    },
    onBlur: close,
  }
  const list = (
    <>
      <p class="visually-hidden" role="status">
        {isOpen && `${counted(entries.length, 'suggestion')}. Choose with the arrow keys.`}
      </p>
      {isOpen && <MentionList id={id} entries={entries} place={place.value} onChoose={choose} />}
    </>
  )
  return { attributes, takesKey, list }
}

export type Mentions = ReturnType<typeof useMentions>

/** What is offered after a short rest; until then, only what has all that is typed in its name, so that none of it is lost. */
function useEntries(mention: Mention | undefined, onChange: () => void): readonly Entry[] {
  const offer = useSignal<{ entries: readonly Entry[]; to?: Mention | undefined }>({ entries: [] })
  const { sign, words = '' } = mention ?? {}
  useEffect(() => {
    let isWanted = true
    const read = async () => {
      const entries = await entriesFor(sign, words.trim().toLowerCase())
      if (!isWanted) return
      offer.value = { entries, to: mention }
      onChange()
    }
    const timer = setTimeout(() => void read(), sign === undefined ? 0 : REST_MS)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [sign, words])
  const { entries, to } = offer.value
  if (to?.sign !== sign) return []
  return to?.words === words ? entries : entries.filter(isNamed(words.trim().toLowerCase()))
}

function MentionList({
  id,
  entries,
  place,
  onChoose,
}: {
  id: string
  entries: readonly Entry[]
  place: number
  onChoose: (entry: Entry) => void
}) {
  useEffect(
    () => document.getElementById(`${id}-${place}`)?.scrollIntoView({ block: 'nearest' }),
    [place],
  )
  return (
    <div role="listbox" id={id} aria-label="Suggestions" class="palette mentions">
      {entries.map((entry, at) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
        <div
          key={`${entry.kind} ${at}`}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === place}
          // The field keeps the focus.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(entry)}
        >
          <span dir="auto">
            {entry.name}
            {entry.description && <span class="hint description">{entry.description}</span>}
          </span>{' '}
          <span class="hint">{entry.kind}</span>
        </div>
      ))}
    </div>
  )
}

async function entriesFor(sign: Mention['sign'] | undefined, words: string): Promise<Entry[]> {
  if (sign === undefined) return []
  return sign === '/'
    ? skillsNamed(words)
    : [...collectionsNamed(words), ...(await documentsNamed(words))]
}

const isNamed = (words: string) => (entry: { name: string }) =>
  entry.name.toLowerCase().includes(words)

/** The model is told in words to use a skill, and gets its instructions by a tool. */
const skillsNamed = (words: string): Entry[] =>
  skills.value.filter(isNamed(words)).map(({ name, description }) => ({
    kind: 'Skill',
    name,
    description,
    choose: () => `Use the skill “${name}”:`,
  }))

const collectionsNamed = (words: string): Entry[] =>
  namesToChoose(collections.value ?? [], '')
    .filter((name) => name.toLowerCase().includes(words))
    .slice(0, MAX_ENTRIES)
    .map((name) => ({ kind: 'Collection', name, choose: () => limitTo(name) }))

async function documentsNamed(words: string): Promise<Entry[]> {
  const query = { status: 'ready', limit: MAX_ENTRIES, title: words || undefined } as const
  try {
    const { items } = await client.documents.list(query).page()
    const titles = [...new Set(items.map(titleOf))]
    return titles.map((name) => ({ kind: 'Document', name, choose: () => `“${name}”` }))
  } catch {
    // One can ask all the same.
    return []
  }
}

function limitTo(collection: string): string {
  chosenCollection.value = collection
  return ''
}

/** The collection that is searched, if it is one. */
export function CollectionChip() {
  const { value: name } = chosenCollection
  if (name === '') return null
  return (
    <p class="chip scope">
      <span class="hint">Only from the collection</span>
      <span class="file-name">{name}</span>
      <RemoveButton name={name} onRemove={() => (chosenCollection.value = '')} />
    </p>
  )
}
