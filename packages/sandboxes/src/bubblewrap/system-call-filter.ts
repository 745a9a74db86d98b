/** Opcodes of the kernel's packet filter (classic BPF), the language that seccomp filters are written in, too. */
const LOAD = 0x20
const JUMP_IF_EQUAL = 0x15
const JUMP_IF_AT_LEAST = 0x35
const JUMP_IF_SET = 0x45
const RETURN = 0x06
const INSTRUCTION_BYTES = 8

/** Offsets in the `seccomp_data` that the kernel passes to the filter. */
const NUMBER = 0
const ARCHITECTURE = 4
const FIRST_ARGUMENT = 16

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const refuse = (error: number) => 0x00050000 | error
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** Unix, IPv4 and IPv6. Others are refused, above all VSOCK, which the network namespace does not isolate. */
const SOCKET_FAMILIES = [1, 2, 10]
/** All the `CLONE_NEW*` flags of `clone`, which create namespaces. */
const NAMESPACE_FLAGS = 0x7e020000
/** Numbers of the x32 ABI begin here; the lists below do not cover them. */
const FOREIGN_NUMBERS = 0x40000000

/**
 * System calls that sandboxed code has no use for. First those that have been used to escape from sandboxes: keys, BPF,
 * io_uring, performance events, userfaultfd, other processes' memory, modules, mounts, namespaces, file handles. Then
 * those that allocate memory which belongs to no process, and which nothing counts without control groups: `memfd`
 * files, and System V shared memory, semaphores and messages.
 */
const REFUSED = {
  x64: [
    29, 64, 68, 319, 101, 103, 134, 135, 154, 155, 163, 165, 166, 167, 168, 169, 175, 176, 179, 246,
    248, 249, 250, 272, 298, 303, 304, 308, 310, 311, 312, 313, 320, 321, 323,
  ],
  arm64: [
    186, 190, 194, 279, 39, 40, 41, 60, 89, 92, 97, 104, 105, 106, 116, 117, 142, 217, 218, 219,
    224, 225, 241, 264, 265, 268, 270, 271, 272, 273, 280, 282, 294,
  ],
  /** Newer calls have the same number on every architecture. */
  everywhere: [425, 426, 427, 428, 429, 430, 431, 432, 433, 438, 442, 447],
}
const CLONE3 = 435

const PLATFORMS = {
  x64: { architecture: 0xc000003e, socket: 41, clone: 56, refused: REFUSED.x64 },
  arm64: { architecture: 0xc00000b7, socket: 198, clone: 220, refused: REFUSED.arm64 },
}

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number]

/** The filter in the format of bubblewrap's `--seccomp`; undefined on architectures that are not listed here. */
export function systemCallFilter(platform: string = process.arch): Buffer | undefined {
  if (platform !== 'x64' && platform !== 'arm64') return undefined
  const { architecture, socket, clone, refused } = PLATFORMS[platform]
  return assemble([
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_IF_EQUAL, 1, 0, architecture],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [JUMP_IF_AT_LEAST, 0, 1, FOREIGN_NUMBERS],
    [RETURN, 0, 0, refuse(EPERM)],
    ...[...refused, ...REFUSED.everywhere].flatMap((number) => answerTo(number, refuse(EPERM))),
    // Its flags lie in memory, which the filter cannot read; programs fall back to `clone`.
    ...answerTo(CLONE3, refuse(ENOSYS)),
    [JUMP_IF_EQUAL, 0, 4, clone],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [JUMP_IF_SET, 0, 1, NAMESPACE_FLAGS],
    [RETURN, 0, 0, refuse(EPERM)],
    [RETURN, 0, 0, ALLOW],
    [JUMP_IF_EQUAL, 0, SOCKET_FAMILIES.length + 2, socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    ...SOCKET_FAMILIES.map(
      (family, i): Instruction => [JUMP_IF_EQUAL, SOCKET_FAMILIES.length - i, 0, family],
    ),
    [RETURN, 0, 0, refuse(EAFNOSUPPORT)],
    [RETURN, 0, 0, ALLOW],
  ])
}

function answerTo(number: number, answer: number): Instruction[] {
  return [
    [JUMP_IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, answer],
  ]
}

function assemble(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * INSTRUCTION_BYTES)
  instructions.forEach(([code, ifTrue, ifFalse, operand], i) => {
    const at = i * INSTRUCTION_BYTES
    bytes.writeUInt16LE(code, at)
    bytes.writeUInt8(ifTrue, at + 2)
    bytes.writeUInt8(ifFalse, at + 3)
    bytes.writeUInt32LE(operand >>> 0, at + 4)
  })
  return bytes
}
