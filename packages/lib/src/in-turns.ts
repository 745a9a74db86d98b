import { setImmediate as nextTurn } from 'node:timers/promises'

/** Maps in order, and gives others a turn after each: of what is as large as a request may be, one takes milliseconds. */
export async function inTurns<Input, Output>(
  inputs: readonly Input[],
  map: (input: Input) => Output,
): Promise<Output[]> {
  const outputs: Output[] = []
  for (const input of inputs) {
    outputs.push(map(input))
    await nextTurn()
  }
  return outputs
}
