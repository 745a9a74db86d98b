import type { IncomingMessage } from 'node:http'
import { finished, type Readable } from 'node:stream'
import { decoded } from './decoded.ts'

/** Bytes that are held while nobody reads, before the sender has to wait. */
const MAX_HELD = 64 * 2 ** 10
/** How long to wait for the end of a body whose answer is complete, so that its connection can be used again. */
const DRAIN_MS = 1_000

/** The bytes of an answer as they arrive. */
export class AnswerBody {
  readonly #message: IncomingMessage
  readonly #source: Readable
  readonly #take: (piece: Buffer) => void
  #held: Buffer[] = []
  #heldBytes = 0
  #end: { error: unknown } | undefined
  #wake: (() => void) | undefined

  /** Calls `onArrival` with each piece. */
  constructor(message: IncomingMessage, onArrival: () => void) {
    this.#message = message
    this.#source = decoded(message)
    this.#take = (piece) => {
      onArrival()
      this.#held.push(piece)
      this.#heldBytes += piece.length
      if (this.#heldBytes > MAX_HELD) this.#source.pause()
      this.#wake?.()
    }
    this.#source.on('data', this.#take)
    finished(this.#source, (error) => {
      this.#end = { error }
      this.#wake?.()
    })
  }

  /** What has come since the last read, as soon as there is any; undefined at the end. Throws the connection's error. */
  async read(): Promise<Buffer | undefined> {
    if (this.#heldBytes === 0 && !this.#end) {
      // The HTTP parser reports everything from one read of the network before this continues.
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    if (this.#heldBytes === 0) {
      if (this.#end?.error) throw this.#end.error
      return undefined
    }
    const [first = Buffer.alloc(0), ...more] = this.#held
    this.#held = []
    this.#heldBytes = 0
    if (this.#source.isPaused()) this.#source.resume()
    return more.length === 0 ? first : Buffer.concat([first, ...more])
  }

  /** Ends the call: reads what little may follow a whole answer, closes the connection of any other. */
  close(isWhole: boolean): void {
    const message = this.#message
    if (this.#end) return
    this.#source.off('data', this.#take)
    if (!isWhole) return void message.destroy()
    const timer = setTimeout(() => message.destroy(), DRAIN_MS).unref()
    message.once('close', () => clearTimeout(timer))
    this.#source.resume()
  }
}
