import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Settings } from '@agent-server/schemas/operator/admin.ts'
import { expect, it } from 'vitest'
import { long, someOf } from '../support/long.ts'
import { TEST_KEY } from '../support/server.ts'
import { startServerProcess } from '../support/server-process.ts'
import { temporaryDirectory } from '../support/temporary-files.ts'

it.each<[string, (text: string) => Buffer]>(
  someOf(
    [
      ['in UTF-8 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
      ['in UTF-16, as PowerShell writes it', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ],
    1,
  ),
)('A server starts with .env and agent.json %s', long, async (_case, encode) => {
  const directory = await temporaryDirectory()
  await writeFile(join(directory, '.env'), encode(`SERVER_API_KEY=${TEST_KEY}\r\nTOP_K=3\r\n`))
  await writeFile(join(directory, 'agent.json'), encode('{"name": "Größe"}'))
  const server = await startServerProcess({ SERVER_API_KEY: undefined }, { directory })
  expect(await (await server.request('/agent')).json()).toMatchObject({ name: 'Größe' })
  const settings = Settings.parse(await (await server.request('/admin/settings')).json())
  expect(settings).toMatchObject({ mistakes: [] })
  expect(settings.settings).toContainEqual(
    expect.objectContaining({ name: 'TOP_K', value: '3', source: 'file' }),
  )
})
