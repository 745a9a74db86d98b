import { toColumn } from './text-codec.ts'

export type Value = string | number | boolean | null | undefined | Uint8Array | readonly Value[]

/** A value as the client library sends it. */
export function toParameter(value: Value): unknown {
  if (typeof value === 'string') return toColumn(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length)
  return Array.isArray(value) ? value.map(toParameter) : value
}
