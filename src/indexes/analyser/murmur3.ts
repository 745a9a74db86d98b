const encoder = new TextEncoder()
/** Tokens are short; a longer text gets a buffer of its own. */
const scratch = new Uint8Array(1024)

/** MurmurHash3 x86 32-bit (Appleby, public domain) of the UTF-8 bytes of `text`, seed 0, as used for sparse vectors. */
export function murmur3(text: string): number {
  const bytes = text.length * 3 > scratch.length ? new Uint8Array(text.length * 3) : scratch
  const length = encoder.encodeInto(text, bytes).written
  const view = new DataView(bytes.buffer)
  const blocks = length & ~3
  let hash = 0
  for (let i = 0; i < blocks; i += 4) {
    hash ^= scramble(view.getUint32(i, true))
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let i = length - 1; i >= blocks; i--) rest = (rest << 8) | (bytes[i] ?? 0)
  return finish(hash ^ scramble(rest) ^ length)
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
