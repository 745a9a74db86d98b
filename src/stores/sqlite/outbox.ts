import type { Outbox } from '../outbox.ts'
import type { WriteQueue } from './write-queue.ts'

export function createOutbox({ write }: Pick<WriteQueue, 'write'>): Outbox {
  return {
    announce: (isWanted) => write({ name: 'announce', input: isWanted }),
    takeEvents: (limit, milliseconds) =>
      write({ name: 'takeEvents', input: { limit, milliseconds } }),
    postponeEvent: (id, dueAt) => write({ name: 'postponeEvent', input: { id, dueAt } }),
    removeEvent: (id) => write({ name: 'removeEvent', input: id }),
  }
}
