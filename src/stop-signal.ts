/** Aborted by the first signal to stop; a second one ends the process at once. */
export function stopSignal(reason: (name: string) => Error): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1)
      stop.abort(reason(name))
    })
  }
  return stop.signal
}
