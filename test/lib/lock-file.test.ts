import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openLockFile } from '../../src/lib/lock-file.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

const Content = z.strictObject({ names: z.array(z.string()) })

async function open(text?: string) {
  const path = join(await temporaryDirectory(), 'below', 'lock.json')
  const openAgain = () => openLockFile(path, Content, { names: [] })
  if (text !== undefined) {
    await (await openAgain()).update((content) => content)
    await writeFile(path, text)
  }
  return { path, openAgain, file: await openAgain() }
}

describe('a lock file', () => {
  it('begins as it is told where there is none', async () => {
    expect((await open()).file.read()).toEqual({ names: [] })
  })

  it('holds what was written when it is opened again', async () => {
    const { file, openAgain } = await open()
    await file.update(() => ({ names: ['a'] }))
    expect((await openAgain()).read()).toEqual({ names: ['a'] })
  })

  it('loses none of many changes at once', async () => {
    const { file, path } = await open()
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(
      names.map((name) => file.update((content) => ({ names: [...content.names, name] }))),
    )
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ names })
  })

  it('stays as it was where a change fails, and takes the next one', async () => {
    const { file } = await open()
    const failing = file.update(() => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await file.update(() => ({ names: ['b'] }))
    expect(file.read()).toEqual({ names: ['b'] })
  })

  it.each(['', '{', '[]', '{"names":[1]}', '{"names":[],"more":1}'])(
    'is refused rather than begun anew: %j',
    async (text) => {
      await expect(open(text)).rejects.toThrow('is not a lock file')
    },
  )
})
