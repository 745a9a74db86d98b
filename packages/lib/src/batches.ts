/** The items in groups of `size`, the last of which may be smaller. */
export function* batched<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/**
 * Processes the items in batches, `workers` of them at once. Rejects with the first error; no batch is started after it.
 */
export async function forEachBatch<Item>(
  items: Iterable<Item>,
  { size, workers }: { size: number; workers: number },
  work: (batch: Item[]) => Promise<void>,
): Promise<void> {
  const batches = batched(items, size)
  const runWorker = async () => {
    // An error in the loop closes the generator, which ends the loops of all workers.
    for (const batch of batches) await work(batch)
  }
  await Promise.all(Array.from({ length: workers }, runWorker))
}
