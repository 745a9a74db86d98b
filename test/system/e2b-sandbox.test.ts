import { existsSync } from 'node:fs'
import type { SandboxLimits } from '@agent-server/sandboxes'
import { afterAll, beforeAll, describe } from 'vitest'
import { bubblewrapParameters } from '../../packages/sandboxes/src/bubblewrap/bubblewrap-sandbox.ts'
import { systemCallFilter } from '../../packages/sandboxes/src/bubblewrap/system-call-filter.ts'
import { startChild } from '../../packages/sandboxes/src/channel.ts'
import { createE2bSandbox } from '../../packages/sandboxes/src/e2b/e2b-sandbox.ts'
import { describeSandbox } from '../../packages/sandboxes/test/contracts/sandbox.contract.ts'
import { describeSandboxAttacks } from '../../packages/sandboxes/test/contracts/sandbox-attacks.contract.ts'
import {
  E2B_STUB_KEY,
  type E2bStub,
  type StubProcess,
  type StubProgram,
  startE2bStub,
} from '../../packages/sandboxes/test/e2b/e2b-stub.ts'

/** Of the client; what the stub's sandboxes prevent says nothing about the provider's. */
describe.skipIf(!existsSync('/usr/bin/bwrap'))('A stub of E2B (needs bubblewrap)', () => {
  const stubs: E2bStub[] = []
  let url = ''
  let limitsOfStub: SandboxLimits | undefined

  beforeAll(async () => {
    const stub = await startE2bStub({ launch: (program) => launch(program, limitsOfStub) })
    url = stub.url
    stubs.push(stub)
  })
  afterAll(() => Promise.all(stubs.map((stub) => stub.close())))

  const e2b = {
    create(limits: SandboxLimits) {
      limitsOfStub = limits
      return createE2bSandbox({
        limits,
        apiKey: E2B_STUB_KEY,
        apiUrl: url,
        template: 'any',
        idleSeconds: 60,
        log: { warn: () => undefined },
      })
    },
  }
  describeSandbox('e2b', e2b)
  describeSandboxAttacks('e2b', e2b)
})

/** The program in bubblewrap, with a home that it may write to, as in the provider's templates. */
function launch({ cmd, args, envs }: StubProgram, limits?: SandboxLimits): StubProcess {
  if (!limits) throw new Error('The stub does not know any limits')
  const all = bubblewrapParameters(limits, true)
  const own = all.slice(0, all.indexOf('--'))
  const home = ['--size', String(limits.fileMegabytes * 2 ** 20), '--tmpfs', '/home/user']
  own.splice(own.indexOf('--remount-ro', own.indexOf('/work')), 0, ...home)
  const variables = Object.entries(envs).flatMap(([name, value]) => ['--setenv', name, value])
  const { input, output, ended, kill } = startChild({
    path: '/usr/bin/bwrap',
    parameters: [...own, ...variables, '--', cmd, ...args],
    extraInput: systemCallFilter(),
    user: process.getuid?.() === 0 ? 65_534 : undefined,
    maximumBytes: 2 * limits.memoryMegabytes * 2 ** 20,
  })
  input.on('error', () => undefined)
  return {
    write: (bytes) => void input.write(bytes),
    onOutput: (take) => void output.on('data', take),
    ended,
    kill: () => void kill(),
  }
}
