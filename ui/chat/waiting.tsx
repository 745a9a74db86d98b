import { useId } from 'preact/hooks'
import type { Approval, Resume } from '../../packages/client/src/agent-server.ts'
import { Button, Form } from '../parts/controls.tsx'
import { nameOfTool } from './step-words.ts'

export type Decision = Omit<Resume, 'state'>
type Call = Approval['calls'][number]
type Elicitation = NonNullable<Call['elicitations']>[number]

interface Option {
  const: string
  title?: string
}
interface FieldSchema {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array'
  title?: string
  description?: string
  enum?: string[]
  enumNames?: string[]
  oneOf?: Option[]
  items?: { enum?: string[]; anyOf?: Option[] }
  format?: 'email' | 'uri' | 'date' | 'date-time'
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  default?: string | number | boolean
}

/** Calls that wait for a word, each for its own, with all that they would do, or for what their server asks. */
export function Waiting({
  approval: { calls },
  isBusy,
  onDecide,
}: {
  approval: Approval
  isBusy: boolean
  onDecide: (decision: Decision) => void
}) {
  const asks = calls.some(({ elicitations }) => elicitations)
  const [goOn, refuse] = wordsFor(asks, calls.length)
  const submit = (entered: HTMLFormElement) => {
    const form = new FormData(entered)
    const answers = calls.flatMap(({ callId, elicitations = [] }) =>
      elicitations.map((one) => ({ callId, id: one.id, content: contentOf(one, callId, form) })),
    )
    const approved = calls
      .filter((call) => !isChosen(call, calls) || form.has(call.callId))
      .map(({ callId }) => callId)
    onDecide(asks ? { approved, answers } : { approved })
  }
  return (
    <Form
      class="stack note"
      aria-label={asks ? 'Questions' : 'Waiting for approval'}
      onSubmit={submit}
    >
      {calls.map((call) => (
        <WaitingCall key={call.callId} call={call} isChosen={isChosen(call, calls)} />
      ))}
      <div class="row">
        <Button icon="done" type="submit" class="primary" disabled={isBusy}>
          {goOn}
        </Button>
        <Button icon="cancel" disabled={isBusy} onClick={() => onDecide({ approved: [] })}>
          {refuse}
        </Button>
      </div>
    </Form>
  )
}

/** Whether a call has a mark of its own: it is one of several, and its server asks nothing. */
const isChosen = ({ elicitations }: Call, calls: readonly Call[]) =>
  calls.length > 1 && !elicitations

function wordsFor(asks: boolean, calls: number): readonly [string, string] {
  if (asks) return ['Send', 'Decline']
  return calls > 1 ? ['Approve selected', 'Refuse all'] : ['Approve', 'Refuse']
}

function WaitingCall({
  call: { callId, tool, input, elicitations },
  isChosen,
}: {
  call: Call
  isChosen: boolean
}) {
  if (!elicitations) {
    const words = (
      <span>
        <strong>{nameOfTool(tool)}</strong> needs your approval:
      </span>
    )
    return (
      <div class="stack">
        {isChosen ? (
          <label class="check">
            <input type="checkbox" name={callId} defaultChecked />
            {words}
          </label>
        ) : (
          <p>{words}</p>
        )}
        <pre class="code">{JSON.stringify(input, null, 2)}</pre>
      </div>
    )
  }
  return elicitations.map((one) => (
    <div key={one.id} class="stack">
      <p>
        <strong>{nameOfTool(tool)}</strong> asks: {one.message}
      </p>
      {fieldsOf(one).map(([name, field, isRequired]) => (
        <AskedField
          key={name}
          name={keyOf(callId, one, name)}
          label={name}
          field={field}
          isRequired={isRequired}
        />
      ))}
    </div>
  ))
}

function AskedField({
  name,
  label,
  field,
  isRequired,
}: {
  name: string
  label: string
  field: FieldSchema
  isRequired: boolean
}) {
  const id = useId()
  const hint = field.description && `${id}-hint`
  const common = { id, name, 'aria-describedby': hint }
  const title = field.title ?? label
  const isSwitch = field.type === 'boolean'
  return (
    <div class={isSwitch ? 'row' : 'field'}>
      {isSwitch && <input {...common} type="checkbox" defaultChecked={field.default === true} />}
      <label class="label" for={id}>
        {isRequired || isSwitch ? title : `${title} (optional)`}
      </label>
      {!isSwitch && <Entry common={common} field={field} isRequired={isRequired} />}
      {hint && (
        <small id={hint} class="hint">
          {field.description}
        </small>
      )}
    </div>
  )
}

function Entry({
  common,
  field,
  isRequired,
}: {
  common: { id: string; name: string }
  field: FieldSchema
  isRequired: boolean
}) {
  const options = optionsOf(field)
  if (options) {
    const isMultiple = field.type === 'array'
    return (
      <select {...common} multiple={isMultiple} required={isRequired}>
        {!isMultiple && <option value="" />}
        {options.map((option) => (
          <option key={option.const} value={option.const} selected={option.const === field.default}>
            {option.title ?? option.const}
          </option>
        ))}
      </select>
    )
  }
  const { type, format, minimum: min, maximum: max, minLength, maxLength } = field
  const defaultValue = field.default?.toString()
  const entry = { ...common, min, max, minLength, maxLength, required: isRequired, defaultValue }
  if (type === 'integer') return <input {...entry} type="number" step={1} />
  if (type === 'number') return <input {...entry} type="number" step="any" />
  switch (format) {
    case 'email':
      return <input {...entry} type="email" />
    case 'uri':
      return <input {...entry} type="url" />
    case 'date':
      return <input {...entry} type="date" />
    case 'date-time':
      return <input {...entry} type="datetime-local" />
    case undefined:
      return <input {...entry} type="text" />
  }
}

function optionsOf({ enum: names, enumNames, oneOf, items }: FieldSchema): Option[] | undefined {
  if (names) return names.map((name, index) => ({ const: name, title: enumNames?.[index] ?? name }))
  return oneOf ?? items?.anyOf ?? items?.enum?.map((name) => ({ const: name }))
}

function fieldsOf({ requestedSchema }: Elicitation) {
  // The only kinds of questions of a server that are passed on.
  const { properties, required } = requestedSchema as {
    properties: Record<string, FieldSchema>
    required: string[]
  }
  return Object.entries(properties).map(
    ([name, field]) => [name, field, required.includes(name)] as const,
  )
}

const keyOf = (callId: string, { id }: Elicitation, name: string) =>
  JSON.stringify([callId, id, name])

/** What was entered; fields that were left empty are left out. */
function contentOf(
  elicitation: Elicitation,
  callId: string,
  form: FormData,
): Record<string, unknown> {
  const content: Record<string, unknown> = {}
  for (const [name, field, isRequired] of fieldsOf(elicitation)) {
    const entered = form.getAll(keyOf(callId, elicitation, name)).map((one) => one.toString())
    const [text = ''] = entered
    if (field.type === 'boolean') content[name] = text !== ''
    else if (field.type === 'array' && (text !== '' || isRequired)) content[name] = entered
    else if (text !== '') content[name] = toValue(text, field)
  }
  return content
}

function toValue(text: string, { type, format }: FieldSchema): string | number {
  if (type === 'number' || type === 'integer') return Number(text)
  return format === 'date-time' ? new Date(text).toISOString() : text
}
