import { describe, expect, it } from 'vitest'
import {
  dueOf,
  type Observations,
  observe,
  openOf,
  UNSEEN,
} from '../../../src/documents/watch/observations.ts'

const SETTLE_MS = 10
const NEVER = Number.POSITIVE_INFINITY

/** A folder of which each look shows these files, by path and stamp. */
function createFolder(observations: Observations = new Map()) {
  let now = 0
  return {
    observations,
    see(files: Record<string, string>, unread: Record<string, string> = {}) {
      const found = {
        files: new Map(Object.entries(files)),
        unread: new Map(Object.entries(unread)),
      }
      observe(observations, found, now, SETTLE_MS)
    },
    /** Lets so much time pass; tells what is due then. */
    after(milliseconds: number) {
      now += milliseconds
      return dueOf(observations, now).map(([path]) => path)
    },
    /** As if they had been taken. */
    take(...paths: string[]) {
      for (const path of paths) {
        const { stamp } = observations.get(path) ?? UNSEEN
        observations.set(path, { stamp, dueAt: NEVER, isTaken: true })
      }
    },
  }
}

describe('What has changed in a folder', () => {
  it('is due once it has stayed the same for a moment', () => {
    const folder = createFolder()
    folder.see({ a: '1' })
    expect(folder.after(9)).toEqual([])
    folder.see({ a: '2', b: '1' })
    expect(folder.after(9)).toEqual([])
    folder.see({ a: '2', b: '2' })
    expect(folder.after(1)).toEqual(['a'])
    expect(openOf(folder.observations)).toEqual({ count: 2, nextAt: 19 })
  })

  it('is nothing while the files stay as they were taken', () => {
    const folder = createFolder()
    folder.see({ a: '1', b: '1' })
    folder.take('a', 'b')
    folder.see({ a: '1', b: '1' })
    expect(folder.after(100)).toEqual([])
    expect(openOf(folder.observations)).toEqual({ count: 0, nextAt: NEVER })
  })

  it('is a file that is gone, after new ones: a moved file is found all the time', () => {
    const folder = createFolder()
    folder.see({ old: '1' })
    folder.take('old')
    folder.see({ new: '1' })
    expect(folder.after(10)).toEqual(['new', 'old'])
    expect(folder.observations.get('old')).toMatchObject({ stamp: undefined, isTaken: true })
  })

  it('is no file that was written again before its document was deleted', () => {
    const folder = createFolder()
    folder.see({ a: '1' })
    folder.take('a')
    folder.see({})
    folder.after(9)
    folder.see({ a: '2' })
    expect(folder.after(10)).toEqual(['a'])
    expect(folder.observations.get('a')).toMatchObject({ stamp: '2', isTaken: true })
  })

  it('includes what was deleted and changed while no server ran', () => {
    const folder = createFolder(
      new Map([
        ['gone', UNSEEN],
        ['there', UNSEEN],
      ]),
    )
    folder.see({ there: '1' })
    expect(folder.after(10)).toEqual(['there', 'gone'])
  })

  it('is not known of what could not be read, nor of what lies below it', () => {
    const folder = createFolder()
    folder.see({ a: '1', 'b/c': '1', 'b/d/e': '1', bc: '1' })
    folder.take('a', 'b/c', 'b/d/e', 'bc')
    folder.see({}, { a: 'EIO', b: 'EACCES' })
    expect(folder.after(10)).toEqual(['bc'])
  })
})
