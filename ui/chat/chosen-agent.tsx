import { signal } from '@preact/signals'
import { client } from '../api.ts'
import { Field } from '../parts/controls.tsx'
import { onSignOut } from '../session.ts'

interface NamedAgent {
  name: string
  description?: string | undefined
}

/** The first agent, and those besides it that the reader may use; undefined until they were read. */
const agents = signal<{ first: string; others: readonly NamedAgent[] } | undefined>(undefined)

/** Who answers; empty for the first agent. */
export const chosenAgent = signal('')

onSignOut(() => {
  agents.value = undefined
  chosenAgent.value = ''
})

export async function refreshAgents(): Promise<void> {
  const { name, agents: others = [] } = await client.agent.get()
  agents.value = { first: name, others }
  if (!others.some((other) => other.name === chosenAgent.value)) chosenAgent.value = ''
}

/** Chooses who answers; nothing where there is one agent. */
export function ChosenAgent() {
  if (!agents.value?.others.length) return null
  const { first, others } = agents.value
  return (
    <Field label="Agent" class="small-field">
      <select
        value={chosenAgent.value}
        onChange={({ currentTarget }) => (chosenAgent.value = currentTarget.value)}
      >
        <option value="">{first}</option>
        {others.map(({ name, description }) => (
          <option key={name} value={name} title={description}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  )
}
