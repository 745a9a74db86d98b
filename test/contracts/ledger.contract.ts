import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OpenLedger } from '../../src/stores/lock-file.ts'

export const Names = z.strictObject({ names: z.array(z.string()) })
export const NOBODY: z.output<typeof Names> = { names: [] }

export interface LedgerCase {
  /** Opens ledgers of its own to each test; twice `opened`, they are the same ones, as after a restart. */
  create(): Promise<{ open(): Promise<OpenLedger> }>
}

type Content = z.output<typeof Names>
const withName =
  (name: string) =>
  ({ names }: Content): Content => ({ names: [...names, name] })

/** What those rely on who compare with what was accepted. */
export function describeLedgers(name: string, { create }: LedgerCase): void {
  const openNames = async () => {
    const { open } = await create()
    const openAgain = async () => (await open())('names', Names, NOBODY)
    return { ledger: await openAgain(), openAgain, open }
  }

  describe(`${name} as ledgers`, () => {
    it('begin as they are told where there is nothing', async () => {
      expect(await (await openNames()).ledger.read()).toEqual(NOBODY)
    })

    it('hold what was written when they are opened again', async () => {
      const { ledger, openAgain } = await openNames()
      expect(await ledger.update(withName('a "\u0000\u{1F9A6}'))).toEqual({
        names: ['a "\u0000\u{1F9A6}'],
      })
      expect(await (await openAgain()).read()).toEqual({ names: ['a "\u0000\u{1F9A6}'] })
    })

    it('are kept apart by their names', async () => {
      const { ledger, open } = await openNames()
      await ledger.update(withName('a'))
      const other = await (await open())('other-names', Names, NOBODY)
      expect(await other.read()).toEqual(NOBODY)
    })

    it('lose none of many changes at once', async () => {
      const { ledger } = await openNames()
      const names = ['a', 'b', 'c', 'd']
      await Promise.all(names.map((each) => ledger.update(withName(each))))
      expect((await ledger.read()).names.toSorted()).toEqual(names)
    })

    it('stay as they were where a change fails, and take the next one', async () => {
      const { ledger } = await openNames()
      await ledger.update(withName('a'))
      const failing = ledger.update(() => {
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      await ledger.update(withName('b'))
      expect(await ledger.read()).toEqual({ names: ['a', 'b'] })
    })

    it('are refused rather than begun anew where they are of another form', async () => {
      const { ledger, open } = await openNames()
      await ledger.update(withName('a'))
      const Numbers = z.strictObject({ numbers: z.array(z.number()) })
      const opening = (await open())('names', Numbers, { numbers: [] })
      await expect(opening).rejects.toThrow(
        /names.* is not .*of this version; mend it or remove it/,
      )
      expect(await ledger.read()).toEqual({ names: ['a'] })
    })
  })
}
