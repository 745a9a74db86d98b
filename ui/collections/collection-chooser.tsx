import type { Signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Field } from '../parts/controls.tsx'
import { areMany, chosenCollection, collections, namesToChoose } from './collections.ts'

interface ChooserProps {
  value: string
  onChoose: (name: string) => void
}

/** Chooses a collection, or all documents. */
export function CollectionChooser({ value, onChoose, ...more }: ChooserProps & { class?: string }) {
  const listed = collections.value ?? []
  if (areMany(listed)) {
    return (
      <Field label="Collection" {...more}>
        <input
          type="search"
          list={COLLECTION_NAMES}
          maxLength={64}
          autocomplete="off"
          placeholder="All documents"
          value={value}
          onChange={({ currentTarget }) => onChoose(currentTarget.value.trim())}
        />
        <Names id={COLLECTION_NAMES} />
      </Field>
    )
  }
  return (
    <Field label="Collection" {...more}>
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">All documents</option>
        {namesToChoose(listed, value).map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </Field>
  )
}

/** The collection for the chat and for Search; nothing where there is no choice. */
export function ChosenCollection() {
  const isChoice = namesToChoose(collections.value ?? [], chosenCollection.value).length > 0
  if (!isChoice) return null
  return (
    <CollectionChooser
      class="small-field"
      value={chosenCollection.value}
      onChoose={(name) => (chosenCollection.value = name)}
    />
  )
}

const COLLECTION_NAMES = 'collection-names'

/** The name of a collection that exists or comes to be with its first document. */
export function CollectionField({ text, label = 'Collection', isSmall = false }: FieldProps) {
  const id = useId()
  return (
    <Field label={label}>
      <input
        type="search"
        list={id}
        maxLength={64}
        pattern="[A-Za-z0-9][\w.\-]*"
        title="A letter or digit, followed by letters, digits, _ . or -"
        placeholder={isSmall ? 'Collection' : 'default'}
        autocomplete="off"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value.trim())}
      />
      <Names id={id} />
    </Field>
  )
}

interface FieldProps {
  text: Signal<string>
  label?: string
  /** Whether it has only a placeholder, which is short, for a label that is seen. */
  isSmall?: boolean
}

function Names({ id }: { id: string }) {
  return (
    <datalist id={id}>
      {collections.value?.map(({ name }) => (
        <option key={name} value={name} />
      ))}
    </datalist>
  )
}
