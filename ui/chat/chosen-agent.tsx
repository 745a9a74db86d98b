import { computed, signal } from '@preact/signals'
import { client } from '../api.ts'
import { Field } from '../parts/controls.tsx'
import { onSignOut } from '../session.ts'

interface NamedAgent {
  name: string
  description?: string | undefined
}

interface Skill {
  name: string
  description: string
}

interface Agents {
  first: string
  others: readonly NamedAgent[]
  /** Skills of the first agent. */
  skills: readonly Skill[]
}

/** The first agent, and those besides it that the reader may use; undefined until they were read. */
const agents = signal<Agents | undefined>(undefined)

/** Who answers; empty for the first agent. */
export const chosenAgent = signal('')

/** The properties of the agent that answers, as far as they are known. */
export const skills = computed(() => (chosenAgent.value === '' ? (agents.value?.skills ?? []) : []))

onSignOut(() => {
  agents.value = undefined
  chosenAgent.value = ''
})

export async function refreshAgents(): Promise<void> {
  const { name, agents: others = [], skills = [] } = await client.agent.get()
  agents.value = { first: name, others, skills }
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
