interface BodyBounds {
  maxBytes: number
  /** Makes the error with which a body that is too large ends. */
  tooLarge?: () => Error
  /** Replaces an error thrown while reading. */
  explain?: (error: unknown) => unknown
}

/** Limits a body's size; bytes are read only on demand, so back-pressure is kept. */
export function boundBody(
  body: ReadableStream<Uint8Array>,
  { maxBytes, tooLarge = () => tooLong(maxBytes), explain = (error) => error }: BodyBounds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw explain(error)
        })
        if (done) return controller.close()
        bytes += value.length
        if (bytes <= maxBytes) return controller.enqueue(value)
        await reader.cancel()
        throw tooLarge()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The text of a response. Throws `RangeError` if it is longer than `maxBytes`, before all of it is in memory. */
export async function readBoundedText(response: Response, maxBytes: number): Promise<string> {
  const { text, isCut } = await readStartOfText(response, maxBytes)
  if (isCut) throw tooLong(maxBytes)
  return text
}

/** The first `maxBytes` of a response's text; the rest is not read. */
export async function readStartOfText(
  { body }: Response,
  maxBytes: number,
): Promise<{ text: string; isCut: boolean }> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    parts.push(part)
    bytes += part.length
    if (bytes > maxBytes) break
  }
  return { text: Buffer.concat(parts).toString('utf8', 0, maxBytes), isCut: bytes > maxBytes }
}

function tooLong(maxBytes: number): RangeError {
  return new RangeError(`The response is larger than ${maxBytes} bytes`)
}
