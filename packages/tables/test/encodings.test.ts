import { expect, it } from 'vitest'
import { onlyLong } from '../../../test/support/long.ts'
import { readTables as read } from './read-tables.ts'

const PORTS = Array.from({ length: 30 }, (_, n) => `Århus ${n};${n}`)
const bytesOf = (...lines: (string | Buffer)[]) =>
  Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]))
const DAMAGED = Buffer.concat([Buffer.from('Troms'), Buffer.from([0xf8]), Buffer.from(';99')])

it('A table in UTF-8 with a damaged letter is read as UTF-8, as its text is', async () => {
  const [table] = await read(bytesOf('Port;Ships', ...PORTS, DAMAGED))
  expect(table?.values[3]).toEqual(['Århus 3', '3'])
  expect(table?.values.at(-1)).toEqual(['Troms\ufffd', '99'])
})

it('The encoding of a table may show late', onlyLong, async () => {
  const plain = Array.from({ length: 32_000 }, (_, n) => `A plain port without marks;${n}`)
  const damaged = await read(bytesOf('Port;Ships', ...PORTS, ...plain, DAMAGED))
  expect(damaged[0]?.values[3]).toEqual(['Århus 3', '3'])
  const western = await read(bytesOf('Port;Ships', ...plain, DAMAGED))
  expect(western[0]?.values.at(-1)).toEqual(['Tromsø', '99'])
})

it('The last letter of a table may be cut off', async () => {
  const [table] = await read(bytesOf('Ships;Port', '1;Århus', '2;Tromsø').subarray(0, -2))
  expect(table?.values).toEqual([
    ['1', 'Århus'],
    ['2', 'Troms\ufffd'],
  ])
})
