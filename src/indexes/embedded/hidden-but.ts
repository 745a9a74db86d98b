import { lowerBound, type Segment, seek } from './segment.ts'

/** 1 at the ordinal of every chunk that is removed or whose key is not among `only`, which ascend. */
export function hiddenBut({ keys, removed }: Segment, only: Uint32Array): Uint8Array<ArrayBuffer> {
  const hidden = new Uint8Array(keys.length).fill(1)
  const first = lowerBound(only, keys[0] ?? 0, 0, only.length)
  let ordinal = 0
  for (let i = first; i < only.length && ordinal < keys.length; i++) {
    const key = only[i] ?? 0
    ordinal = seek(keys, key, ordinal, keys.length)
    if (keys[ordinal] === key) hidden[ordinal] = removed?.[ordinal] ?? 0
  }
  return hidden
}
