/** Bounds of one request. Text Embeddings Inference takes no more texts unless it is configured to. */
const MAX_TEXTS = 32
const MAX_CHARACTERS = 64_000
/** Requests under way at once. */
const MAX_REQUESTS = 4

type Vector = Float32Array<ArrayBuffer>

interface Item {
  text: string
  signal: AbortSignal
  resolve: (vector: Vector) => void
  reject: (error: unknown) => void
}

interface TextBatches {
  /** One vector per text; texts of other callers share its requests. Rejects with the signal's reason. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Vector[]>
}

/** `send` gives one result or error per text, and throws nothing but what its signal was aborted with. */
export function createTextBatches(
  send: (texts: readonly string[], signal: AbortSignal) => Promise<(Vector | Error)[]>,
): TextBatches {
  let waiting: Item[] = []
  let underWay = 0

  const run = async (batch: readonly Item[]) => {
    const finished = new AbortController()
    const abandoned = abandonment(batch, finished.signal)
    try {
      const results = await send(
        batch.map(({ text }) => text),
        abandoned,
      )
      for (const [position, { resolve, reject }] of batch.entries()) {
        const result = results[position]
        if (result instanceof Float32Array) resolve(result)
        else reject(result ?? new TypeError('A text has no result'))
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    } finally {
      finished.abort()
      underWay--
      pump()
    }
  }

  const pump = () => {
    waiting = waiting.filter(({ signal }) => !signal.aborted)
    while (underWay < MAX_REQUESTS && waiting.length > 0) {
      underWay++
      void run(takeBatch(waiting))
    }
  }

  return {
    async embed(texts, signal) {
      signal.throwIfAborted()
      const { promise: aborted, reject: abort } = Promise.withResolvers<never>()
      const onAbort = () => abort(signal.reason)
      signal.addEventListener('abort', onAbort, { once: true })
      const vectors = texts.map((text) => {
        const { promise, resolve, reject } = Promise.withResolvers<Vector>()
        waiting.push({ text, signal, resolve, reject })
        return promise
      })
      // Texts that come in the same moment share their requests.
      queueMicrotask(pump)
      try {
        return await Promise.race([aborted, Promise.all(vectors)])
      } finally {
        signal.removeEventListener('abort', onAbort)
      }
    },
  }
}

function takeBatch(waiting: Item[]): Item[] {
  let characters = 0
  const tooMuch = waiting.findIndex(({ text }, position) => {
    characters += text.length
    return position > 0 && characters > MAX_CHARACTERS
  })
  return waiting.splice(0, Math.min(tooMuch < 0 ? waiting.length : tooMuch, MAX_TEXTS))
}

/** Aborted when nobody waits for the batch any more; `finished` ends the watch. */
function abandonment(batch: readonly Item[], finished: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const signals = new Set(batch.map(({ signal }) => signal))
  const look = () => {
    const reason = batch[0]?.signal.reason
    if (batch.every(({ signal }) => signal.aborted)) controller.abort(reason)
  }
  for (const signal of signals) signal.addEventListener('abort', look, { signal: finished })
  look()
  return controller.signal
}
