/**
 * Returns a function that calls `use` with the result of `load`: at once if it is loaded, else as soon as it is. A
 * failed load is tried again with the next call.
 */
export function createLoader<Loaded>(load: () => Promise<Loaded>) {
  let loaded: Loaded | undefined
  let loading: Promise<Loaded> | undefined
  return (use: (loaded: Loaded) => void): void => {
    if (loaded) {
      use(loaded)
      return
    }
    loading ??= load()
    loading.then(
      (module) => {
        loaded = module
        use(module)
      },
      () => {
        loading = undefined
      },
    )
  }
}
