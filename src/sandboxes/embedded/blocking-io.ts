import { readSync, writeSync } from 'node:fs'

const STDIN = 0
const STDOUT = 1
/** Between two looks at a stream that is not ready. */
const PAUSE_MILLISECONDS = 2

/** Exactly `size` bytes of standard input; undefined once it has ended. */
export function readExactly(size: number): Buffer | undefined {
  const bytes = Buffer.alloc(size)
  let read = 0
  while (read < size) {
    const count = retrying(() => readSync(STDIN, bytes, read, size - read, null))
    if (count === 0) return undefined
    read += count
  }
  return bytes
}

export function writeFully(bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.byteLength) {
    written += retrying(() => writeSync(STDOUT, bytes, written))
  }
}

function retrying(work: () => number): number {
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (codeOf(error) === 'EOF') return 0
      if (codeOf(error) !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLISECONDS)
    }
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
