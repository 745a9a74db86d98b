import type { Outbox } from '../outbox.ts'
import type { WriteQueue } from './write-queue.ts'

export function createOutbox({ write }: Pick<WriteQueue, 'write'>): Outbox {
  return {
    announce: (isWanted) => write({ name: 'announce', input: isWanted }),
    takeAnnouncements: (limit, milliseconds) =>
      write({ name: 'takeAnnouncements', input: { limit, milliseconds } }),
    putOffAnnouncement: (id, dueAt) => write({ name: 'putOffAnnouncement', input: { id, dueAt } }),
    dropAnnouncement: (id) => write({ name: 'dropAnnouncement', input: id }),
  }
}
