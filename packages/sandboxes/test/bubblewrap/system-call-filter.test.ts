import { describe, expect, it } from 'vitest'
import { systemCallFilter } from '../../src/bubblewrap/system-call-filter.ts'

const ALLOWED = 0x7fff0000
const KILLED = 0x80000000
const refused = (error: number) => 0x00050000 + error

const X64 = { architecture: 0xc000003e, platform: 'x64' }
const ARM64 = { architecture: 0xc00000b7, platform: 'arm64' }

/** Runs a filter as the kernel would. */
function judge(
  { architecture, platform }: typeof X64,
  { number, argument = 0, ...call }: { number: number; argument?: number; architecture?: number },
): number {
  const filter = systemCallFilter(platform) ?? Buffer.alloc(0)
  const data = { 0: number, 4: call.architecture ?? architecture, 16: argument }
  const held = new Map(Object.entries(data))
  let accumulator = 0
  for (let at = 0; at < filter.length; at += 8) {
    const [code, operand] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)]
    if (code === 0x06) return operand
    if (code === 0x20) accumulator = held.get(String(operand)) ?? Number.NaN
    else at += 8 * filter.readUInt8(at + (jumps(code, accumulator, operand) ? 2 : 3))
  }
  throw new Error('The filter does not end')
}

function jumps(code: number, accumulator: number, operand: number): boolean {
  if (code === 0x15) return accumulator === operand
  return code === 0x35 ? accumulator >= operand : (accumulator & operand) !== 0
}

describe('The filter of system calls', () => {
  it.each([
    ['read', 0, 63],
    ['write', 1, 64],
    ['openat', 257, 56],
    ['execve', 59, 221],
    ['futex', 202, 98],
  ])('lets %s pass', (_name, x64, arm64) => {
    expect(judge(X64, { number: x64 })).toBe(ALLOWED)
    expect(judge(ARM64, { number: arm64 })).toBe(ALLOWED)
  })

  it.each([
    ['ptrace', 101, 117],
    ['keyctl', 250, 219],
    ['bpf', 321, 280],
    ['io_uring_setup', 425, 425],
    ['perf_event_open', 298, 241],
    ['userfaultfd', 323, 282],
    ['mount', 165, 40],
    ['unshare', 272, 97],
    ['setns', 308, 268],
    ['process_vm_readv', 310, 270],
    ['mount_setattr', 442, 442],
    ['memfd_create', 319, 279],
    ['memfd_secret', 447, 447],
    ['shmget', 29, 194],
    ['semget', 64, 190],
    ['msgget', 68, 186],
  ])('refuses %s', (_name, x64, arm64) => {
    expect(judge(X64, { number: x64 })).toBe(refused(1))
    expect(judge(ARM64, { number: arm64 })).toBe(refused(1))
  })

  it('lets threads and processes be made, but no namespaces', () => {
    for (const [machine, clone] of [
      [X64, 56],
      [ARM64, 220],
    ] as const) {
      expect(judge(machine, { number: clone, argument: 0x3d0f00 })).toBe(ALLOWED)
      expect(judge(machine, { number: clone, argument: 0x10000000 })).toBe(refused(1))
      expect(judge(machine, { number: 435 })).toBe(refused(38))
    }
  })

  it('lets sockets of known families be made, and no other', () => {
    for (const [machine, socket] of [
      [X64, 41],
      [ARM64, 198],
    ] as const) {
      for (const family of [1, 2, 10]) {
        expect(judge(machine, { number: socket, argument: family })).toBe(ALLOWED)
      }
      for (const family of [0, 16, 17, 38, 40]) {
        expect(judge(machine, { number: socket, argument: family })).toBe(refused(97))
      }
    }
  })

  it('kills what comes as another processor’s call, and refuses numbers of the x32 interface', () => {
    expect(judge(X64, { number: 0, architecture: 0x40000003 })).toBe(KILLED)
    expect(judge(X64, { number: 0x40000000 })).toBe(refused(1))
  })

  it('is left out where the numbers are not known', () => {
    expect(systemCallFilter('riscv64')).toBeUndefined()
  })
})
