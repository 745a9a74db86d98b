/** The two ends of an interpreter that runs code in a loop, wherever it runs; it speaks frames. */
export interface SandboxChannel {
  input: NodeJS.WritableStream
  output: NodeJS.ReadableStream
  /** Resolves when the interpreter has ended, for whatever reason, with its last words for the log. */
  ended: Promise<string>
  /** Ends the interpreter and everything that it started, at once; resolves when nothing of it is left. */
  kill(): Promise<void>
}
