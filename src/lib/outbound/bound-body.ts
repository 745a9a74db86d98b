interface BodyBounds {
  maximumBytes: number
  /** What to end the body with when there is more of it. */
  tooLarge: () => Error
  /** What to end the body with instead of what reading it threw. */
  explain: (error: unknown) => unknown
}

/** The same bytes, read only as fast as they are asked for, up to a bound. */
export function boundBody(
  body: ReadableStream<Uint8Array>,
  { maximumBytes, tooLarge, explain }: BodyBounds,
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
        if (bytes <= maximumBytes) return controller.enqueue(value)
        await reader.cancel()
        throw tooLarge()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
