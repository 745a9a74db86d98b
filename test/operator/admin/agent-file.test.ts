import { rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../../src/agent/configuration.ts'
import { AgentFileService } from '../../../src/operator/admin/agent-file.ts'
import { temporaryDirectory } from '../../support/temporary-files.ts'

async function newPath(text?: string): Promise<string> {
  const path = join(await temporaryDirectory(), 'agent.json')
  if (text !== undefined) await writeFile(path, text)
  return path
}

/** The fields in which the file differs from what it says now. */
async function changesSince(path: string) {
  const { configuration } = await loadConfiguration(path)
  const file = new AgentFileService({
    path,
    directory: dirname(path),
    mode: 'agent',
    running: {
      configuration: () => configuration,
      catalogue: () => '',
      replace: async () => undefined,
    },
  })
  return async () => {
    const { restartFields } = await file.read()
    expect(await file.isChanged()).toBe(restartFields.length > 0)
    return restartFields
  }
}

describe('The running configuration', () => {
  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['nothing has happened', '{}', '{}', false],
    ['the file was absent and still is', undefined, undefined, false],
    ['the file has changed', '{}', '{"name":"other"}', true],
    ['only its blanks have changed', '{}', '{ }', false],
    ['it says what was the default', '{}', '{"name":"agent"}', false],
    ['the file has become wrong', '{}', '{', true],
    ['the file has appeared', undefined, '{"prompt":"Hi"}', true],
    ['the file has appeared and says nothing', undefined, '{}', false],
    ['the file has appeared, empty', undefined, '', true],
    ['the file has gone', '{"prompt":"Hi"}', undefined, true],
  ])('differs from what is on disk: %s', async (_case, before, after, isNeeded) => {
    const path = await newPath(before)
    const changedFields = await changesSince(path)
    if (after === undefined) await rm(path, { force: true })
    else await writeFile(path, after)
    expect((await changedFields()).length > 0).toBe(isNeeded)
  })

  it('no longer differs once the file is restored', async () => {
    const path = await newPath('{}')
    const changedFields = await changesSince(path)
    await writeFile(path, '{"name":"other"}')
    expect(await changedFields()).toEqual(['name'])
    await writeFile(path, '{}')
    expect(await changedFields()).toEqual([])
  })
})
