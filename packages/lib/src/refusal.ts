/** An expected failure of a tool or a job, in words for whoever asked for it; its cause is logged. */
export class Refusal extends Error {
  override readonly name: string = 'Refusal'
}
