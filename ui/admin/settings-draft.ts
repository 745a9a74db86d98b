import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Settings } from '../../client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { readServerState } from './server-state.ts'

/** What is to change: a new value by name, or null for none but the default. */
export type Draft = Readonly<Record<string, string | null>>

/** The variables of the server, and what somebody is about to change of them. */
export function useSettings() {
  const settings = useSignal<Settings | undefined>(undefined)
  const draft = useSignal<Draft>({})
  const failure = useSignal('')
  const note = useSignal('')
  const read = async () => {
    try {
      settings.value = await client.admin.settings.get()
    } catch (error) {
      failure.value = messageOf(error)
    }
  }
  useEffect(() => void read(), [])

  const save = async () => {
    if (!settings.value) return
    failure.value = ''
    note.value = ''
    try {
      const saved = await client.admin.settings.save({
        basedOn: settings.value.digest,
        ...changesOf(draft.value),
      })
      settings.value = saved.settings
      draft.value = {}
      note.value =
        saved.changed.length > 0 ? `Saved: ${saved.changed.join(', ')}.` : 'Nothing changed.'
      await readServerState()
    } catch (error) {
      failure.value = messageOf(error)
      // What somebody else saved meanwhile is shown; what was typed here stays.
      await read()
    }
  }
  return { settings, draft, failure, note, save }
}

/** As the server takes it. */
export function changesOf(draft: Draft) {
  const entries = Object.entries(draft)
  const set = Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return { set, clear: entries.flatMap(([name, value]) => (value ? [] : [name])) }
}
