import { everything } from '@agent-server/lib/visibility.ts'
import { describe, expect, it } from 'vitest'
import { callsOf, createWrites, type Write } from '../../src/sql/writes.ts'
import { SQLITE } from '../../src/sqlite/dialect.ts'
import { WriteQueue } from '../../src/sqlite/write-queue.ts'
import type { Outcome } from '../../src/sqlite/writes.ts'

/** A disk that takes each group when it is told to. */
function createHeldDisk() {
  const groups: { writes: readonly Write[]; answer: PromiseWithResolvers<Outcome[]> }[] = []
  return {
    groups,
    send(writes: readonly Write[]): Promise<Outcome[]> {
      const answer = Promise.withResolvers<Outcome[]>()
      groups.push({ writes, answer })
      return answer.promise
    },
    /** The first `most` of a group. */
    confirm(position: number, most = Number.POSITIVE_INFINITY): void {
      const group = groups[position]
      const outcomes = group?.writes.slice(0, most).map(() => ({ output: undefined })) ?? []
      group?.answer.resolve(outcomes)
    },
  }
}

const textOf = (characters: number) => ({ id: 'a', text: 'x'.repeat(characters) })
const writes = createWrites(SQLITE, 1)
const write = (queue: WriteQueue) => callsOf(writes, (each) => queue.write(each))

describe('The write queue', () => {
  it('batches the writes that arrive while a group is written into the next group', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const first = [write(queue).delete(everything(), 'a'), write(queue).delete(everything(), 'b')]
    await Promise.resolve()
    const second = [
      write(queue).delete(everything(), 'c'),
      write(queue).delete(everything(), 'd'),
      write(queue).delete(everything(), 'e'),
    ]
    disk.confirm(0)
    await Promise.all(first)
    disk.confirm(1)
    await Promise.all(second)
    expect(disk.groups.map(({ writes }) => writes.length)).toEqual([2, 3])
  })

  it('confirms nothing before it is on the disk', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    let confirmed = false
    const deletion = write(queue)
      .delete(everything(), 'a')
      .then(() => {
        confirmed = true
      })
    await Promise.resolve()
    expect(confirmed).toBe(false)
    disk.confirm(0)
    await deletion
    expect(confirmed).toBe(true)
  })

  it('splits a group that exceeds one transaction, by number and by length', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const writes = [
      ...Array.from({ length: 300 }, () => write(queue).check()),
      ...Array.from({ length: 3 }, () => write(queue).add(textOf(5_000_000))),
    ]
    for (let position = 0; position < 4; position += 1) {
      await expect.poll(() => disk.groups.length).toBe(position + 1)
      disk.confirm(position)
    }
    await Promise.all(writes)
    expect(disk.groups.map(({ writes }) => writes.length)).toEqual([256, 45, 1, 1])
  })

  it('refuses clients when too many writes wait, and never ingestion', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const waiting = Array.from({ length: 4_096 }, () => write(queue).check())
    const refusal = { code: 'queue_full', retryAfter: 1 }
    const refused = [
      write(queue).delete(everything(), 'a'),
      write(queue).patchLabels(everything(), 'a', {}),
    ]
    await Promise.all(refused.map((each) => expect(each).rejects.toMatchObject(refusal)))
    waiting.push(write(queue).check())
    for (let position = 0; position < 17; position += 1) {
      await expect.poll(() => disk.groups.length).toBe(position + 1)
      disk.confirm(position)
    }
    expect(await Promise.all(waiting)).toHaveLength(4_097)
  })

  it('refuses an owner whose waiting texts are too long, but no others, and takes any one text', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const addOf = (sender: string | undefined, characters: number) =>
      write(queue).add({ ...textOf(characters), sender })
    const large = addOf('greedy', 100_000_000)
    const refused = addOf('greedy', 20_000)
    await expect(refused).rejects.toMatchObject({ code: 'queue_full' })
    const others = [addOf('modest', 20_000), addOf(undefined, 20_000), addOf('greedy', 1)]
    disk.confirm(0)
    await large
    await expect.poll(() => disk.groups.length).toBe(2)
    disk.confirm(1)
    await Promise.all(others)
  })

  it('deletes for one owner what it has asked for while others have sent many deletions', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const deletion = (reader: string, id: string) =>
      write(queue).delete({ ...everything(), reader }, id)
    const many = Array.from({ length: 64 }, (_, n) => deletion('greedy', `g${n}`))
    await Promise.resolve()
    const own = deletion('modest', 'm')
    const idsOf = (position: number) => disk.groups[position]?.writes.map(({ input }) => input[1])
    // Two of them have taken long.
    disk.confirm(0, 2)
    await expect.poll(() => disk.groups.length).toBe(2)
    expect(idsOf(1)?.slice(0, 2)).toEqual(['m', 'g2'])
    disk.confirm(1, 1)
    await own
    await expect.poll(() => disk.groups.length).toBe(3)
    expect(idsOf(2)).toEqual(Array.from({ length: 62 }, (_, n) => `g${n + 2}`))
    disk.confirm(2)
    await Promise.all(many)
  })

  it('holds nothing short up by long texts that others have sent, of any kind', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const item = { id: 'i', json: 'x'.repeat(4_000_000), text: 'x'.repeat(4_000_000) }
    const additions = Array.from({ length: 10 }, () =>
      write(queue).addItems({ id: 'c', owner: 'greedy' }, { items: [item] }),
    )
    await Promise.resolve()
    const sent = [
      write(queue).add(textOf(1)),
      write(queue).addConversation({ id: 'm', owner: 'modest', metadata: {} }),
    ]
    for (let position = 0; position < 10; position += 1) {
      await expect.poll(() => disk.groups.length).toBe(position + 1)
      disk.confirm(position)
    }
    await Promise.all([...additions, ...sent])
    const names = disk.groups.map(({ writes }) => writes.map(({ name }) => name))
    expect(names.slice(0, 3)).toEqual([
      ['addItems'],
      ['add', 'addConversation', 'addItems'],
      ['addItems'],
    ])
  })

  it('comes to the removal of a conversation, which holds no short writes up, after a group without it', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const sent = [write(queue).removeConversation({ id: 'c', owner: 'o' }), write(queue).check()]
    await Promise.resolve()
    sent.push(write(queue).check())
    disk.confirm(0, 1)
    await expect.poll(() => disk.groups.length).toBe(2)
    disk.confirm(1)
    await Promise.all(sent)
    const names = disk.groups.map(({ writes }) => writes.map(({ name }) => name))
    expect(names).toEqual([
      ['check', 'removeConversation'],
      ['removeConversation', 'check'],
    ])
  })

  it('writes pieces of files in turn with those of other keys', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const piece = (file: number, sender: string) =>
      write(queue).addPiece(file, 0, new Uint8Array(2 ** 20), sender)
    const sent: Promise<unknown>[] = [write(queue).check()]
    await Promise.resolve()
    for (const file of [1, 2, 3]) sent.push(piece(file, 'greedy'))
    sent.push(piece(4, 'modest'))
    disk.confirm(0)
    await expect.poll(() => disk.groups.length).toBe(2)
    disk.confirm(1)
    await Promise.all(sent)
    expect(disk.groups[1]?.writes.map(({ input }) => input[0])).toEqual([1, 4, 2, 3])
  })

  it('counts what the people of a key write in conversations, and files of agents, towards one share', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue(disk)
    const begin = (id: string, owner: string, share?: string) =>
      write(queue).addConversation({ id, owner, ...(share && { share }), metadata: {} })
    const file = { name: 'a.txt', mediaType: 'text/plain', size: 1, createdAt: 1 }
    const row = { ...file, id: 'f', kind: 'artifact', bytes: new Uint8Array(1) } as const
    const bounds = { maximumBytes: 9, maximumTotalBytes: 9, maximumCount: 9, maximumAgeMs: 9 }
    const sent: Promise<unknown>[] = [write(queue).check()]
    await Promise.resolve()
    for (const person of ['p', 'q', 'r']) sent.push(begin(person, person, 'key'))
    sent.push(begin('m', 'modest'), write(queue).addArtifact({ ...row, owner: 'modest' }, bounds))
    disk.confirm(0)
    await expect.poll(() => disk.groups.length).toBe(2)
    disk.confirm(1)
    await Promise.all(sent)
    const ids = disk.groups[1]?.writes.map(({ input }) => input[0])
    expect(ids).toMatchObject([{ id: 'p' }, { id: 'm' }, { id: 'q' }, { id: 'f' }, { id: 'r' }])
  })

  it('lets nobody wait for a disk that has stalled, and goes on when it answers', async () => {
    const disk = createHeldDisk()
    const queue = new WriteQueue({ send: disk.send, stalledAfterMs: 10 })
    const sent = write(queue).delete(everything(), 'a')
    await Promise.resolve()
    const waiting = write(queue).delete(everything(), 'b')
    const unavailable = { code: 'store_unavailable' }
    await Promise.all([
      expect(sent).rejects.toMatchObject(unavailable),
      expect(waiting).rejects.toMatchObject(unavailable),
    ])
    await expect(write(queue).delete(everything(), 'c')).rejects.toMatchObject(unavailable)
    expect(disk.groups).toHaveLength(1)

    disk.confirm(0)
    await disk.groups[0]?.answer.promise
    const next = write(queue).delete(everything(), 'd')
    await Promise.resolve()
    disk.confirm(1)
    await next
  })
})
