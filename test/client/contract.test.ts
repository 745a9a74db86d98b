import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { contractTypes } from '../../packages/client/scripts/contract-types.ts'
import { startServer } from '../support/server.ts'
import { ROOT } from '../support/source-tree.ts'

it('The types of the client are those of /openapi.json: after a change, npm run client:types', async () => {
  const { url } = await startServer()
  const document = JSON.parse(await (await fetch(`${url}/openapi.json`)).text())
  const generated = readFileSync(new URL('packages/client/src/contract.ts', ROOT), 'utf8')
  expect(await contractTypes(document)).toBe(generated)
})
