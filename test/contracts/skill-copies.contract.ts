import { describe, expect, it } from 'vitest'
import type { SkillCopies } from '../../src/stores/skill-copies.ts'

export interface SkillCopiesCase {
  /** Copies of its own for each test; opened twice, they are the same ones, as after a restart. */
  create(): Promise<{ open(): Promise<SkillCopies> }>
}

const SOURCE = 'https://example.org/skills.zip'
const copyOf = (digest: string, size = 3) => ({ digest, bytes: new Uint8Array(size).fill(size) })

/** What remote skills rely on. */
export function describeSkillCopies(name: string, { create }: SkillCopiesCase): void {
  describe(`${name} as copies of skills`, () => {
    it('have nothing of a source that was never accepted', async () => {
      const copies = await (await create()).open()
      expect(await copies.accepted(SOURCE)).toBeUndefined()
      expect(await copies.read(SOURCE)).toBeUndefined()
      expect(await copies.accepted('constructor')).toBeUndefined()
    })

    it('give back the copy that was accepted, also after a restart', async () => {
      const { open } = await create()
      const copies = await open()
      expect(await copies.keep(SOURCE, copyOf('one'), undefined)).toBe(true)
      for (const opened of [copies, await open()]) {
        expect(await opened.accepted(SOURCE)).toBe('one')
        const read = await opened.read(SOURCE)
        expect([read?.digest, ...(read?.bytes ?? [])]).toEqual(['one', 3, 3, 3])
      }
    })

    it('keep a copy of some megabytes, and an empty one', async () => {
      const copies = await (await create()).open()
      const bytes = Uint8Array.from({ length: 2_500_000 }, (_, i) => (i * i) >>> 5)
      await copies.keep(SOURCE, { digest: 'large', bytes }, undefined)
      const read = await copies.read(SOURCE)
      expect(Buffer.compare(bytes, read?.bytes ?? Buffer.of())).toBe(0)
      await copies.keep(SOURCE, copyOf('empty', 0), 'large')
      expect((await copies.read(SOURCE))?.bytes).toHaveLength(0)
    })

    it('take another copy only from who knows which one was accepted', async () => {
      const copies = await (await create()).open()
      await copies.keep(SOURCE, copyOf('one'), undefined)
      expect(await copies.keep(SOURCE, copyOf('two'), undefined)).toBe(false)
      expect(await copies.keep(SOURCE, copyOf('two'), 'none')).toBe(false)
      expect(await copies.read(SOURCE)).toMatchObject({ digest: 'one' })
      expect(await copies.keep(SOURCE, copyOf('two', 5), 'one')).toBe(true)
      const read = await copies.read(SOURCE)
      expect([read?.digest, read?.bytes.length]).toEqual(['two', 5])
    })

    it('take the same copy again', async () => {
      const copies = await (await create()).open()
      await copies.keep(SOURCE, copyOf('one'), undefined)
      expect(await copies.keep(SOURCE, copyOf('one'), 'one')).toBe(true)
      expect(await copies.read(SOURCE)).toMatchObject({ digest: 'one' })
    })

    it('keep sources apart, however long their names are', async () => {
      const copies = await (await create()).open()
      const long = `https://example.org/${'x'.repeat(5_000)}`
      await copies.keep(long, copyOf('long'), undefined)
      await copies.keep(`${long}y`, copyOf('other'), undefined)
      expect(await copies.accepted(long)).toBe('long')
      expect(await copies.accepted(`${long}y`)).toBe('other')
    })
  })
}
