import { once } from 'node:events'
import { createServer } from 'node:net'
import { explainListening } from '@agent-server/lib/system-error.ts'
import { expect, it } from 'vitest'

async function failureAt(host: string, port = 0): Promise<Error> {
  const server = createServer().listen(port, host)
  const [error] = await once(server, 'error')
  return error
}

it('names HOST where the address is not of this machine', async () => {
  expect(explainListening(await failureAt('192.0.2.1'))).toMatch(
    /192\.0\.2\.1.*: HOST must be an address of this machine/,
  )
})

it('names PORT where another server listens there', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const address = holder.address()
  const port = typeof address === 'object' && address ? address.port : 0
  expect(explainListening(await failureAt('127.0.0.1', port))).toMatch(/Set PORT to a free port/)
  holder.close()
})

it('leaves other failures unchanged', () => {
  expect(explainListening(new Error('listen'))).toBeUndefined()
})
