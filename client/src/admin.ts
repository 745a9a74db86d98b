import { Call } from './call.ts'
import type { Health, Readiness } from './contract.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** What whoever runs the server asks it. */
export class Admin {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Whether the process answers. Needs no key. */
  health(options?: RequestOptions): Call<Health> {
    return this.#transport.json({ method: 'GET', path: '/health' }, options)
  }

  /** Whether every part works; one that does not is `not_ready`, no error. Needs no key. */
  readiness(options?: RequestOptions): Call<Readiness> {
    const request = { method: 'GET', path: '/readiness', alsoTaken: 503 } as const
    return this.#transport.json(request, options)
  }

  /** The metrics in the text format of Prometheus. */
  metrics(options?: RequestOptions): Call<string> {
    const request = { method: 'GET', path: '/metrics', accept: 'text/plain' } as const
    const answer = this.#transport.stream(request, options).withResponse()
    return new Call(
      answer.then(async (outcome) => ({ ...outcome, data: await outcome.data.text() })),
    )
  }
}
