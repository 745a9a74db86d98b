import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Refusal } from '@agent-server/lib/refusal.ts'

interface Asked {
  what: string
  value?: string
}

/** A job for tests: it does what it is asked, as far as it is let. */
export async function doWhatIsAsked({ what, value = '' }: Asked): Promise<unknown> {
  if (what === 'echo') return { value, environment: Object.keys(process.env) }
  if (what === 'refuse') throw new Refusal(value)
  if (what === 'fail') throw new Error(value)
  if (what === 'read') return readFileSync(value, 'utf8')
  if (what === 'exists') return existsSync(value)
  if (what === 'write') return writeFileSync(value, 'written')
  if (what === 'connect') return connectTo(Number(value))
  if (what === 'exit') process.exit(3)
  if (what === 'hoard') return hoard()
  if (what === 'hoard buffers') return hoardBuffers()
  if (what === 'hoard at once') return hoardAtOnce()
  if (what === 'abort') process.abort()
  return new Promise(() => undefined)
}

function connectTo(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    connect(port, '127.0.0.1', () => resolve('connected')).once('error', reject)
  })
}

function hoard(): never {
  const held: number[][] = []
  for (;;) held.push(Array.from({ length: 1_000_000 }, (_, index) => index))
}

function hoardAtOnce(): never {
  const held: Buffer[] = []
  for (;;) held.push(Buffer.alloc(2 ** 22, 1))
}

async function hoardBuffers(): Promise<void> {
  const held: Buffer[] = []
  for (;;) {
    held.push(Buffer.alloc(2 ** 24, 1))
    await setTimeout(5)
  }
}
