import type { Signal } from '@preact/signals'
import type { ButtonHTMLAttributes, ComponentChildren, FormHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName
  /** The subject, for screen readers. */
  about?: string | undefined
}

/** A button with its icon; it submits no form unless its `type` says so. */
export function Button({ icon, about, children, ...attributes }: ButtonProps) {
  return (
    <button type="button" {...attributes}>
      <Icon name={icon} />
      {children}
      {about !== undefined && <span class="visually-hidden"> {about}</span>}
    </button>
  )
}

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> {
  onSubmit: (form: HTMLFormElement) => unknown
}

/** A form that is dealt with here, and sent nowhere. */
export function Form({ onSubmit, ...attributes }: FormProps) {
  return (
    <form
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault()
        void onSubmit(event.currentTarget)
      }}
    />
  )
}

/** A field with its label above it. */
export function Field({
  label,
  class: more = '',
  children,
}: {
  label: ComponentChildren
  class?: string
  children: ComponentChildren
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the field is among the children
    <label class={`field ${more}`}>
      <span class="label">{label}</span>
      {children}
    </label>
  )
}

/** A choice of few, side by side. */
export function Choice<Value>({
  legend,
  options,
  chosen,
  onChoose,
  disabled = false,
}: {
  legend: string
  options: readonly (readonly [value: Value, name: string])[]
  chosen: unknown
  onChoose: (value: Value) => void
  disabled?: boolean
}) {
  const group = useId()
  return (
    <fieldset class="choice" disabled={disabled}>
      <legend class="visually-hidden">{legend}</legend>
      {options.map(([value, name]) => (
        <label key={name}>
          <input
            type="radio"
            name={group}
            checked={value === chosen}
            onChange={() => onChoose(value)}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** The attributes of a field or a choice whose text is a signal's. */
export const bound = (text: Signal<string>) => ({
  value: text.value,
  onInput: ({ currentTarget }: { currentTarget: { value: string } }) => {
    text.value = currentTarget.value
  },
})

/** The attributes of a box whose state is a signal's. */
export const boundBox = (isChecked: Signal<boolean>) => ({
  checked: isChecked.value,
  onChange: ({ currentTarget }: { currentTarget: { checked: boolean } }) => {
    isChecked.value = currentTarget.checked
  },
})
