import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OpenLockFile } from '../../src/stores/lock-file.ts'

export const Names = z.strictObject({ names: z.array(z.string()) })
export const NOBODY: z.output<typeof Names> = { names: [] }

export interface LockFileCase {
  /** Opens lock files of its own to each test; twice `opened`, they are the same ones, as after a restart. */
  create(): Promise<{ open(): Promise<OpenLockFile> }>
}

type Content = z.output<typeof Names>
const withName =
  (name: string) =>
  ({ names }: Content): Content => ({ names: [...names, name] })

/** What those rely on who compare with what was accepted. */
export function describeLockFiles(name: string, { create }: LockFileCase): void {
  const openNames = async () => {
    const { open } = await create()
    const openAgain = async () => (await open())('names', Names, NOBODY)
    return { lockFile: await openAgain(), openAgain, open }
  }

  describe(`${name} as lock files`, () => {
    it('begin as they are told where there is nothing', async () => {
      expect(await (await openNames()).lockFile.read()).toEqual(NOBODY)
    })

    it('hold what was written when they are opened again', async () => {
      const { lockFile, openAgain } = await openNames()
      expect(await lockFile.update(withName('a "\u0000\u{1F9A6}'))).toEqual({
        names: ['a "\u0000\u{1F9A6}'],
      })
      expect(await (await openAgain()).read()).toEqual({ names: ['a "\u0000\u{1F9A6}'] })
    })

    it('are kept apart by their names', async () => {
      const { lockFile, open } = await openNames()
      await lockFile.update(withName('a'))
      const other = await (await open())('other-names', Names, NOBODY)
      expect(await other.read()).toEqual(NOBODY)
    })

    it('lose none of many changes at once', async () => {
      const { lockFile } = await openNames()
      const names = ['a', 'b', 'c', 'd']
      await Promise.all(names.map((each) => lockFile.update(withName(each))))
      expect((await lockFile.read()).names.toSorted()).toEqual(names)
    })

    it('stay as they were where a change fails, and take the next one', async () => {
      const { lockFile } = await openNames()
      await lockFile.update(withName('a'))
      const failing = lockFile.update(() => {
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      await lockFile.update(withName('b'))
      expect(await lockFile.read()).toEqual({ names: ['a', 'b'] })
    })

    it('are refused rather than begun anew where they are of another form', async () => {
      const { lockFile, open } = await openNames()
      await lockFile.update(withName('a'))
      const Numbers = z.strictObject({ numbers: z.array(z.number()) })
      const opening = (await open())('names', Numbers, { numbers: [] })
      await expect(opening).rejects.toThrow(
        /names.* is not .*of this version; mend it or remove it/,
      )
      expect(await lockFile.read()).toEqual({ names: ['a'] })
    })
  })
}
