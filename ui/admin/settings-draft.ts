import { computed, signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Settings, SettingsPatch } from '../../packages/client/src/agent-server.ts'
import { client, messageOf } from '../api.ts'
import { onSignOut } from '../session.ts'
import { guardUnsaved } from '../unsaved.ts'
import { readServerState } from './server-state.ts'

/** The changes: a new value by name, or null for the default. */
export type Draft = Readonly<Record<string, string | null>>

/** One for all pages that change variables, so that it outlives them. */
const draft = signal<Draft>({})
guardUnsaved(computed(() => Object.keys(draft.value).length > 0))
onSignOut(() => {
  draft.value = {}
})

/** The variables of the server, and what somebody is about to change of them. */
export function useSettings() {
  const settings = useSignal<Settings | undefined>(undefined)
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

  /** Answers whether it was saved. */
  const saveChanges = async (changes: Omit<SettingsPatch, 'basedOn'>) => {
    if (!settings.value) return false
    failure.value = ''
    note.value = ''
    try {
      const saved = await client.admin.settings.save({
        basedOn: settings.value.digest,
        ...changes,
      })
      settings.value = saved.settings
      note.value =
        saved.changed.length > 0 ? `Saved: ${saved.changed.join(', ')}.` : 'Nothing changed.'
      void readServerState()
      return true
    } catch (error) {
      // The names of variables are those of the fields.
      failure.value = messageOf(error).replaceAll(/(^|; )set\./g, '$1')
      // Changes saved by others are shown; text typed here stays.
      await read()
      return false
    }
  }
  const save = async () => {
    const saved = draft.value
    if (!(await saveChanges(changesOf(saved)))) return
    // What was typed meanwhile is still to be saved.
    const left = Object.entries(draft.value).filter(([name, value]) => value !== saved[name])
    draft.value = Object.fromEntries(left)
  }
  return { settings, draft, failure, note, save, saveChanges }
}

/** As the server takes it. */
export function changesOf(draft: Draft) {
  const entries = Object.entries(draft)
  const set = Object.fromEntries(entries.flatMap(([name, value]) => (value ? [[name, value]] : [])))
  return { set, clear: entries.flatMap(([name, value]) => (value ? [] : [name])) }
}
