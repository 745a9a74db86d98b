import { computed, effect, signal } from '@preact/signals'
import type { AgentCheck, AgentFile } from '../../packages/client/src/agent-server.ts'
import { attempt, client, isEditConflict } from '../api.ts'
import { onSignOut } from '../session.ts'
import { guardUnsaved } from '../unsaved.ts'
import { fieldAt, readFields, withField } from './agent-fields.ts'
import { readServerState } from './server-state.ts'

/** The content of the field if there is no file yet. */
const EMPTY = '{\n  "prompt": ""\n}\n'

const OVERTAKEN =
  'The configuration has been saved elsewhere meanwhile. Your changes are still here: Save shows how they differ from it.'

export type AgentEditor = ReturnType<typeof createAgentEditor>

function createAgentEditor() {
  const file = signal<AgentFile | undefined>(undefined)
  const text = signal('')
  const found = signal<AgentCheck | undefined>(undefined)
  const failure = signal('')
  /** Separate from the other failure: a check runs by itself, and would clear the reason why nothing was saved. */
  const checkFailure = signal('')
  const note = signal('')

  const fields = computed(() => readFields(text.value))
  /** The check of the last text that was JSON: its results stay visible while typing. */
  const lastFields = signal(fields.value)
  effect(() => {
    if (fields.value || text.value === '') lastFields.value = fields.value
  })
  const isChanged = computed(
    () => file.value !== undefined && text.value !== (file.value.text || EMPTY),
  )

  const take = (read: AgentFile) => {
    file.value = read
    found.value = read
    text.value = read.text || EMPTY
  }
  /** With what somebody else saved as the new basis, the next attempt shows how it differs; the text stays. */
  const saveUnlessChanged = async (text: string, basedOn: string) => {
    try {
      return await client.admin.agent.save({ text, basedOn })
    } catch (error) {
      if (!isEditConflict(error)) throw error
      file.value = await client.admin.agent.get()
      throw new Error(OVERTAKEN, { cause: error })
    }
  }
  const read = () => attempt(failure, async () => take(await client.admin.agent.get()))
  return {
    file,
    text,
    found,
    failure,
    checkFailure,
    note,
    fields,
    /** A field of the text as it was last valid. */
    field: (...path: string[]) => fieldAt(lastFields.value, path),
    set(path: readonly string[], value: unknown) {
      text.value = withField(text.value, path, value)
    },
    isChanged,
    discard() {
      note.value = ''
      return read()
    },
    /** Reads the file, unless there are changes that are not saved. */
    async open() {
      note.value = ''
      if (isChanged.value) note.value = 'Your changes are not saved yet.'
      else await read()
    },
    forget() {
      file.value = undefined
      text.value = ''
    },

    check: () =>
      attempt(checkFailure, async () => {
        const checked = text.value
        if (checked.trim() === '') return
        const result = await client.admin.agent.check(checked)
        if (checked === text.value) found.value = result
      }),

    save: () =>
      attempt(failure, async () => {
        const basedOn = file.value?.digest ?? ''
        const sentText = text.value
        const saved = await saveUnlessChanged(sentText, basedOn)
        // What was typed meanwhile is still to be saved.
        if (text.value === sentText) take(saved.file)
        else file.value = saved.file
        note.value =
          saved.changed.length > 0
            ? `Saved: ${saved.changed.join(', ')}. It applies to the next question.`
            : 'Saved. The effective configuration is unchanged.'
        await readServerState()
      }),
  }
}

/** The agent configuration while somebody writes it; it outlives the page. */
export const agentEditor = createAgentEditor()
guardUnsaved(agentEditor.isChanged)
onSignOut(agentEditor.forget)
