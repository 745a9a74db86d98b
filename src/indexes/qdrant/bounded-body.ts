/** The text of an answer. Throws where it is longer than `limit` bytes, before it is held. */
export async function readBounded(response: Response, limit: number): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > limit) throw new RangeError(`The answer is longer than ${limit} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
