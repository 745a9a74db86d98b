/** The events of a stream of batches, one by one. */
export async function* eachEvent<Event>(
  batches: AsyncIterable<readonly Event[]>,
): AsyncGenerator<Event> {
  for await (const batch of batches) yield* batch
}

/** The events as a stream of batches, each of one. */
export async function* inBatches<Event>(
  events: AsyncIterable<Event> | Iterable<Event>,
): AsyncGenerator<Event[]> {
  for await (const event of events) yield [event]
}
