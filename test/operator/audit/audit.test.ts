import type { NewAuditEntry } from '@agent-server/stores'
import { expect, it } from 'vitest'
import { Audit } from '../../../src/operator/audit/audit.ts'

/** The log on a store that takes what it is given, or nothing while it is down. */
function openAudit() {
  const disk = {
    isDown: false,
    entries: [] as NewAuditEntry[],
    meanwhile: (): void => undefined,
  }
  const warnings: unknown[] = []
  const audit = new Audit({
    store: {
      list: async () => [],
      removeOld: async () => undefined,
      append: async (entries) => {
        if (disk.isDown) throw new Error('down')
        disk.meanwhile()
        disk.entries.push(...entries)
      },
    },
    days: 1,
    log: { info: () => undefined, warn: (fields: unknown) => void warnings.push(fields) },
  })
  const note = (count: number) => {
    const event = { who: 'user:ada', action: 'read', targets: {} }
    for (let number = 0; number < count; number += 1) audit.note(event)
  }
  return { audit, disk, warnings, note }
}

it('Of notes that cannot be stored, 20,000 wait, and how many were lost is logged', async () => {
  const { audit, disk, warnings, note } = openAudit()
  disk.isDown = true
  note(20_003)
  await audit.close()
  expect(disk.entries).toEqual([])
  disk.isDown = false
  await audit.close()
  expect(disk.entries.length).toBe(20_000)
  expect(warnings.at(-1)).toEqual({ lost: 3 })
})

it('What cannot be stored is in the log, whole', async () => {
  const { audit, disk, warnings } = openAudit()
  disk.isDown = true
  const event = { who: 'user:ada', action: 'deleteDocument', targets: { id: 'd1' } }
  await expect(audit.record(event)).rejects.toThrow('down')
  expect(warnings).toMatchObject([{ audit: event }])
  audit.note({ ...event, action: 'read' })
  await audit.close()
  expect(warnings.at(-1)).toMatchObject({ audit: { ...event, action: 'read' } })
})

it('What was noted comes before what is recorded after it', async () => {
  const { audit, disk, note } = openAudit()
  note(2)
  await audit.record({ who: 'user:ada', action: 'signOut', targets: {} })
  note(1)
  await audit.record({ who: 'user:ada', action: 'signIn', targets: {} })
  const actions = disk.entries.map(({ action }) => action)
  expect(actions).toEqual(['read', 'read', 'signOut', 'read', 'signIn'])
})

it('A queue that is full is stored with the next note, once the store is back', async () => {
  const { audit, disk, note } = openAudit()
  disk.isDown = true
  note(20_000)
  await audit.close()
  disk.isDown = false
  note(1)
  await expect.poll(() => disk.entries.length).toBe(20_000)
})

it('A change is acknowledged while others never stop reading', async () => {
  const { audit, disk, note } = openAudit()
  disk.meanwhile = () => note(1)
  note(1)
  await audit.record({ who: 'user:ada', action: 'patchDocument', targets: {} })
  disk.meanwhile = () => undefined
  await audit.close()
  const actions = disk.entries.map(({ action }) => action)
  expect(actions).toEqual(['read', 'patchDocument', 'read', 'read'])
})
