import { describe, expect, it } from 'vitest'
import { createItems } from '../../src/responses/items.ts'

const DELTAS = ['{"a":"', ...Array.from({ length: 600 }, () => 'x'), '"}']
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'find' }

describe('The deltas of a call without a place', () => {
  it.each([
    ['without an identifier', () => ({})],
    ['with another identifier each', (at: number) => ({ item_id: `made up ${at}` })],
  ])('go on with the newest call %s', (_, namesAt) => {
    const items = createItems()
    items.note('response.output_item.added', { item: CALL })
    for (const [at, delta] of DELTAS.entries()) items.addArguments(namesAt(at), delta)
    expect(items.calls()).toEqual([{ callId: 'call_1', name: 'find', arguments: DELTAS.join('') }])
  })
})
