import { describe, expect, it } from 'vitest'
import { type StoreData, useStores } from './open-store.ts'

const SOURCE = 'https://example.org/skills.zip'
const copyOf = (digest: string, size = 3) => ({ digest, bytes: new Uint8Array(size).fill(size) })

const URL = 'https://example.org/mcp'

/** What those rely on who compare with what was accepted. */
export function describeAccepted(name: string, createData: () => Promise<StoreData>): void {
  const open = useStores(createData)
  const openData = async () => {
    const { store, reopen } = await open()
    return { tools: store.acceptedTools, copies: store.skillCopies, reopen }
  }

  describe(`${name} as accepted tools`, () => {
    const one = new Map([['a "\u0000\u{1F9A6}', 'one']])
    const other = new Map([
      ['a "\u0000\u{1F9A6}', 'other'],
      ['constructor', 'x'],
    ])

    it('are what was seen first, also after a restart', async () => {
      const { tools, reopen } = await openData()
      expect(await tools.see('c', URL, one)).toEqual(one)
      expect(await tools.see('c', URL, other)).toEqual(one)
      expect(await (await reopen()).acceptedTools.see('c', URL, other)).toEqual(one)
    })

    it('are told without being seen', async () => {
      const { tools } = await openData()
      expect(await tools.accepted('c', URL)).toBeUndefined()
      await tools.see('c', URL, one)
      expect(await tools.accepted('c', URL)).toEqual(one)
      expect(await tools.accepted('c', `${URL}/2`)).toBeUndefined()
      expect(await tools.see('c', URL, other)).toEqual(one)
    })

    it('are new at another address, and independent of other connections', async () => {
      const { tools } = await openData()
      await tools.see('c', URL, other)
      expect(await tools.see('d', URL, one)).toEqual(one)
      expect(await tools.see('c', `${URL}/2`, one)).toEqual(one)
      expect(await tools.see('c', `${URL}/2`, other)).toEqual(one)
      await tools.accept('c', URL, new Map())
      expect(await tools.see('c', URL, one)).toEqual(new Map())
    })

    it('are replaced by what is accepted, which loses nothing that is missing at the time', async () => {
      const { tools, reopen } = await openData()
      await tools.see('c', URL, one)
      await tools.accept('c', URL, other)
      await tools.accept('c', URL, new Map([['b', 'y']]))
      const all = new Map([...other, ['b', 'y']])
      expect(await tools.see('c', URL, one)).toEqual(all)
      expect(await (await reopen()).acceptedTools.see('c', URL, one)).toEqual(all)
    })

    it('are the same for all who see them first at the same time', async () => {
      const { tools } = await openData()
      const seen = await Promise.all([one, other, one].map((each) => tools.see('c', URL, each)))
      expect(seen).toEqual([seen[0], seen[0], seen[0]])
    })

    it('lose none of many changes at once', async () => {
      const { tools } = await openData()
      await tools.see('c', URL, one)
      const names = ['a', 'b', 'c', 'd']
      await Promise.all(names.map((each) => tools.accept('c', URL, new Map([[each, each]]))))
      const seen = await tools.see('c', URL, one)
      expect([...seen.keys()]).toEqual(expect.arrayContaining([...one.keys(), ...names]))
    })
  })

  describe(`${name} as copies of skills`, () => {
    it('return nothing for a source that was never accepted', async () => {
      const { copies } = await openData()
      expect(await copies.accepted(SOURCE)).toBeUndefined()
      expect(await copies.read(SOURCE)).toBeUndefined()
      expect(await copies.accepted('constructor')).toBeUndefined()
    })

    it('give back the copy that was accepted, also after a restart', async () => {
      const { copies, reopen } = await openData()
      expect(await copies.keep(SOURCE, copyOf('one'), undefined)).toBe(true)
      const isOne = async (opened: typeof copies) => {
        expect(await opened.accepted(SOURCE)).toBe('one')
        const read = await opened.read(SOURCE)
        expect([read?.digest, ...(read?.bytes ?? [])]).toEqual(['one', 3, 3, 3])
      }
      await isOne(copies)
      await isOne((await reopen()).skillCopies)
    })

    it('keep a copy of some megabytes, and an empty one', async () => {
      const { copies } = await openData()
      const bytes = Uint8Array.from({ length: 2_500_000 }, (_, i) => (i * i) >>> 5)
      await copies.keep(SOURCE, { digest: 'large', bytes }, undefined)
      const read = await copies.read(SOURCE)
      expect(Buffer.compare(bytes, read?.bytes ?? Buffer.of())).toBe(0)
      await copies.keep(SOURCE, copyOf('empty', 0), 'large')
      expect((await copies.read(SOURCE))?.bytes).toHaveLength(0)
    })

    it('replace a copy only if the caller knows the accepted one', async () => {
      const { copies } = await openData()
      await copies.keep(SOURCE, copyOf('one'), undefined)
      expect(await copies.keep(SOURCE, copyOf('two'), undefined)).toBe(false)
      expect(await copies.keep(SOURCE, copyOf('two'), 'none')).toBe(false)
      expect(await copies.read(SOURCE)).toMatchObject({ digest: 'one' })
      expect(await copies.keep(SOURCE, copyOf('two', 5), 'one')).toBe(true)
      const read = await copies.read(SOURCE)
      expect([read?.digest, read?.bytes.length]).toEqual(['two', 5])
    })

    it('take the same copy again', async () => {
      const { copies } = await openData()
      await copies.keep(SOURCE, copyOf('one'), undefined)
      expect(await copies.keep(SOURCE, copyOf('one'), 'one')).toBe(true)
      expect(await copies.read(SOURCE)).toMatchObject({ digest: 'one' })
    })

    it('keep sources apart, however long their names are', async () => {
      const { copies } = await openData()
      const long = `https://example.org/${'x'.repeat(5_000)}`
      await copies.keep(long, copyOf('long'), undefined)
      await copies.keep(`${long}y`, copyOf('other'), undefined)
      expect(await copies.accepted(long)).toBe('long')
      expect(await copies.accepted(`${long}y`)).toBe('other')
    })
  })
}
