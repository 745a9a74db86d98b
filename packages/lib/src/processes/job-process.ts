import { Refusal } from '../refusal.ts'
import { endWithParent, type JobAnswer } from './job.ts'

// The entry point of a process that runs one job from the module it is given, and loads no other.
const [module = '', run = ''] = process.argv.slice(2)
endWithParent()
process.once('message', ({ input }: { input: unknown }) => void answer(input))

async function answer(input: unknown): Promise<void> {
  try {
    const { [run]: work } = await import(module)
    reply({ output: await work(input) })
  } catch (error) {
    if (error instanceof Refusal) reply({ refusal: error.message })
    else reply({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

function reply(answer: JobAnswer): void {
  process.send?.(answer)
}
