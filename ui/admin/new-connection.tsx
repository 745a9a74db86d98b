import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button, Form } from '../parts/controls.tsx'
import { href } from '../route.ts'
import type { AgentEditor } from './agent-editor.ts'

/** As the server has them: letters and digits, with single hyphens or underscores between them. */
const NAME = /^[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*$/
const MAX_NAME = 32
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

const EMPTY = { name: '', url: '', variable: '', clientId: '', secret: '', issuer: '' }
type Draft = typeof EMPTY

const FIELDS: readonly [keyof Draft, string][] = [
  ['name', 'Name'],
  ['url', 'URL'],
  ['variable', 'Variable with a bearer token, if required'],
  ['clientId', 'OAuth client, if required'],
  ['secret', 'Variable with the OAuth client’s secret'],
  ['issuer', 'OAuth server that receives the secret'],
]

/** Secrets stay out of the file: it names the variable that holds them, which the Settings page sets. */
export function NewConnection({
  editor,
  names,
}: {
  editor: AgentEditor
  names: readonly string[]
}) {
  const draft = useSignal(EMPTY)
  const add = () => {
    const { name, url, variable, clientId, secret, issuer } = draft.value
    const headers = variable && { headers: { Authorization: `Bearer \${${variable}}` } }
    const client = { clientId, clientSecret: `\${${secret}}`, ...(issuer && { issuer }) }
    const oauth = clientId && { oauth: client }
    // Off until it has been tested.
    editor.set(['mcpServers', name], { url, ...(headers || {}), ...(oauth || {}), enabled: false })
    draft.value = EMPTY
  }
  const isRequired = (name: keyof Draft) =>
    name === 'name' || name === 'url' || (name === 'secret' && draft.value.clientId !== '')
  return (
    <Form class="stack" onSubmit={add}>
      <div class="settings-fields checked-fields">
        {FIELDS.map(([name, label]) => (
          <CheckedField
            key={name}
            label={label}
            value={draft.value[name]}
            mistake={mistakeOf(name, draft.value[name], names)}
            isRequired={isRequired(name)}
            onChange={(value) => (draft.value = { ...draft.value, [name]: value })}
          />
        ))}
      </div>
      <div class="row">
        <Button icon="add" type="submit">
          Add connection
        </Button>
        <span class="hint">
          The connection is off until you enable it. Save, set its variables on the{' '}
          <a href={href('settings')}>Settings</a> page, and test it; this needs no restart.
        </span>
      </div>
    </Form>
  )
}

/** Shows mistakes while typing; text with mistakes is not sent. */
export function CheckedField({
  label,
  value,
  mistake,
  isRequired,
  onChange,
}: {
  label: ComponentChildren
  value: string
  mistake: string
  isRequired: boolean
  onChange: (value: string) => void
}) {
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => input.current?.setCustomValidity(mistake), [mistake])
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      <input
        ref={input}
        id={id}
        required={isRequired}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={mistake !== ''}
        aria-describedby={`${id}-mistake`}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
      <span id={`${id}-mistake`} class="reason" aria-live="polite">
        {mistake}
      </span>
    </div>
  )
}

/** The mistake in the text typed so far; empty if there is none. */
function mistakeOf(field: keyof Draft, value: string, names: readonly string[]): string {
  if (value === '') return ''
  switch (field) {
    case 'name':
      if (names.includes(value)) return 'There is a connection with this name already.'
      if (value.length > MAX_NAME) return `At most ${MAX_NAME} characters.`
      if (NAME.test(value)) return ''
      return 'Only letters A to Z and digits, with single hyphens or underscores between them.'
    case 'url':
    case 'issuer':
      return mistakeInUrl(value)
    case 'variable':
    case 'secret':
      return VARIABLE.test(value) ? '' : 'The name of a variable, such as DOCS_KEY, not its value.'
    case 'clientId':
      return ''
    default:
      return field satisfies never
  }
}

/** Parts of a URL may come from variables, too. */
export function mistakeInUrl(text: string): string {
  const url = URL.parse(text.replaceAll(/\$\{[^}]*\}/g, 'x'))
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return ''
  return 'A URL that begins with http:// or https://, without a user.'
}
