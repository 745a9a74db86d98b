/** The part of WebAssembly used here: its types come with those of browsers, which are not loaded. */
declare namespace WebAssembly {
  function validate(bytes: Uint8Array): boolean
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Memory {
    readonly buffer: ArrayBuffer
    /** Grows by so many pages of 64 kB; `buffer` is a new one afterwards. */
    grow(pages: number): number
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>)
    readonly exports: Record<string, unknown>
  }
}
